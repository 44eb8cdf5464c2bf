//! The web server: connections and their limits.

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_http::HttpService;
use actix_http::error::DispatchError;
use actix_server::GracefulShutdownSignal;
use actix_service::{
    IntoServiceFactory as _, ServiceFactory, ServiceFactoryExt as _, fn_service, map_config,
};
use actix_web::body::MessageBody;
use actix_web::dev::{AppConfig, Extensions, Server, ServiceRequest, ServiceResponse};
use actix_web::rt::net::TcpStream;
use actix_web::{App, Error};
use anyhow::Context as _;
#[cfg(target_os = "linux")]
use socket2::SockRef;

use crate::connections::Connection;
use crate::observe::Observer;
use crate::refusals::{Refuse, Stream};
use crate::worker_pulse::WorkerPulse;

/// The time for which a client may take to close its side.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// The time for which a shutdown waits for requests in progress.
const DRAIN_SECONDS: u64 = 30;

/// The settings of the web server.
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// The number of worker threads; `None` means one per core.
    pub workers: Option<usize>,
    /// The maximum number of connections per worker.
    pub max_connections: usize,
    /// The time within which the head of a request must arrive.
    pub head_timeout: Duration,
    /// The maximum idle time of a connection between two requests.
    pub keep_alive: Duration,
}

/// The server on this listener, built as by `actix_web::HttpServer`, which serves plain TCP streams only and
/// thus cannot replace its parser's refusals. Each worker handles requests with an application of its own, and
/// takes part in the pulse.
///
/// # Errors
/// When the listener cannot be used.
pub fn server<T, B>(
    application: impl Fn() -> App<T> + Clone + Send + 'static,
    observer: Observer,
    listener: TcpListener,
    settings: &ServerSettings,
    pulse: WorkerPulse,
) -> anyhow::Result<Server>
where
    T: ServiceFactory<
            ServiceRequest,
            Config = (),
            Response = ServiceResponse<B>,
            Error = Error,
            InitError = (),
        > + 'static,
    B: MessageBody + 'static,
{
    let builder = Server::build()
        .max_concurrent_connections(settings.max_connections)
        .shutdown_timeout(DRAIN_SECONDS)
        .disable_signals();
    let builder = match settings.workers {
        Some(workers) => builder.workers(workers),
        None => builder,
    };
    let stopping = builder.graceful_shutdown_signal();
    let limits = Limits { head: settings.head_timeout, keep_alive: settings.keep_alive };
    let served = builder.listen("http", listener, move || {
        pulse.begin();
        connections(application(), observer.clone(), limits, stopping.clone())
    });
    Ok(served.context("the listener cannot be used")?.run())
}

/// The time limits of a connection.
#[derive(Clone, Copy)]
struct Limits {
    /// Until its first head is complete.
    head: Duration,
    /// Without a request.
    keep_alive: Duration,
}

/// The connection service of a worker.
fn connections<T, B>(
    application: App<T>,
    observer: Observer,
    limits: Limits,
    stopping: GracefulShutdownSignal,
) -> impl ServiceFactory<TcpStream, Config = (), Response = (), Error = DispatchError, InitError = ()> + use<T, B>
where
    T: ServiceFactory<
            ServiceRequest,
            Config = (),
            Response = ServiceResponse<B>,
            Error = Error,
            InitError = (),
        > + 'static,
    B: MessageBody + 'static,
{
    let patience = limits.keep_alive.saturating_add(limits.head);
    let handlers = application.into_factory().map_err(|error: Error| error.error_response());
    let requests = HttpService::build()
        .graceful_shutdown_signal(move || {
            let stopping = stopping.clone();
            async move { stopping.notified().await }
        })
        .keep_alive(limits.keep_alive)
        .client_request_timeout(limits.head)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        .on_connect_ext(move |stream: &Stream, data: &mut Extensions| {
            data.insert(stream.gate().clone());
            watch(stream.tcp(), data, patience);
        })
        // The default address of the configuration is used only for generated links, which this service does
        // not use.
        .h1(map_config(handlers, |()| AppConfig::default()));
    let refuse: Refuse = Arc::new(move |status| observer.refused(status));
    fn_service(move |tcp: TcpStream| {
        let refuse = refuse.clone();
        async move {
            if let Err(error) = tcp.set_nodelay(true) {
                tracing::debug!(%error, "answers on this connection may be delayed");
            }
            // A client that vanished without closing its connection; a stream of events may wait for hours.
            #[cfg(target_os = "linux")]
            if let Err(error) = SockRef::from(&tcp).set_tcp_user_timeout(Some(patience)) {
                tracing::debug!(%error, "a lost client keeps this connection open");
            }
            let address = tcp.peer_addr().ok();
            Ok::<_, DispatchError>((Stream::new(tcp, refuse), address))
        }
    })
    .and_then(requests)
}

fn watch(tcp: &TcpStream, data: &mut Extensions, patience: Duration) {
    match Connection::watched(tcp, patience) {
        Ok(connection) => drop(data.insert(connection)),
        Err(error) => tracing::warn!(%error, "the connection cannot be watched"),
    }
}
