//! The life of the service: start, one line, requests, stop.

use std::io::{self, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use actix_web::HttpServer;
use actix_web::dev::Server;
use anyhow::Context;

use crate::app::App;
use crate::background::Background;
use crate::clock::SystemClock;
use crate::composition::{self, OpenStore, Providers};
use crate::config::{Bootstrap, Settings, Storage};
use crate::http;
use crate::metrics::Metrics;
use crate::security::key_ring::KeyRing;
use crate::security::secrets::RandomSecrets;
use crate::signals::Signals;

/// How long the head of a request may take to arrive.
const REQUEST_HEAD_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a connection may be silent between two requests.
const KEEP_ALIVE: Duration = Duration::from_secs(75);
/// How long a client may take to close its side.
const DISCONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a stop waits for the requests that are being answered.
const DRAIN_SECONDS: u64 = 30;
/// Connections of one worker.
const MAX_CONNECTIONS: usize = 10_000;

/// Runs the service until it is told to stop, then lets the requests that are being answered finish.
///
/// Prints one line once it listens: `listening on http://127.0.0.1:8080`.
///
/// # Errors
/// When it cannot start, as one sentence that names the key.
pub async fn serve(settings: Settings) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    // First of all, since what is measured before is lost.
    Metrics::install()?;
    let keys = composition::key_ring(&settings, RandomSecrets::new()?)?;
    let providers = composition::providers(&settings, Arc::new(SystemClock))?;
    let store = OpenStore::open(&settings).await?;
    let served = run(&settings, keys, providers, &store, &mut signals).await;
    store.close().await;
    served
}

async fn run(
    settings: &Settings,
    keys: KeyRing,
    providers: Providers,
    store: &OpenStore,
    signals: &mut Signals,
) -> anyhow::Result<()> {
    let (listener, url) = bind(settings)?;
    let (store, clock) = (store.store.clone(), Arc::new(SystemClock));
    let app = composition::app(settings, keys, providers, store, clock, url.clone())?;
    if let Some(operator) = settings.bootstrap.clone() {
        bootstrap(&app, operator).await?;
    }
    if matches!(settings.storage, Storage::Memory) {
        tracing::warn!("storage.backend is memory: all data ends with this process");
    }
    if app.settings.rate_limits {
        tracing::warn!("rate_limits.enabled: this version counts no calls, so put a limit in front of it");
    }
    let server = server(&app, listener, settings.server.workers)?;
    let background = Background::start(
        &app,
        settings.requests.sweep_interval,
        settings.payouts.poll_interval,
        settings.audit_interval,
    );
    announce(&url);
    tracing::info!("the API is shown at {url}/docs/");
    let ended = until_stopped(server, signals).await;
    background.stop().await;
    tracing::info!("stopped");
    ended
}

/// Takes the configured address; without a configured origin, it is the one under which clients reach the service.
fn bind(settings: &Settings) -> anyhow::Result<(TcpListener, String)> {
    let (host, port) = (settings.server.host.as_str(), settings.server.port);
    let listener = TcpListener::bind((host, port))
        .with_context(|| format!("server.host, server.port: cannot listen on {host} port {port}"))?;
    let address = listener.local_addr().context("the listening address is unknown")?;
    Ok((listener, format!("http://{address}")))
}

async fn bootstrap(app: &App, operator: Bootstrap) -> anyhow::Result<()> {
    let made = app.services.accounts.bootstrap_operator(operator.email, operator.password).await;
    if let Some(user) = made.context("bootstrap.operator_email: the operator cannot be made")? {
        tracing::info!(%user, "the operator was made");
    }
    Ok(())
}

fn server(app: &Arc<App>, listener: TcpListener, workers: Option<usize>) -> anyhow::Result<Server> {
    let app = app.clone();
    let server = HttpServer::new(move || http::app(app.clone()))
        .client_request_timeout(REQUEST_HEAD_TIMEOUT)
        .client_disconnect_timeout(DISCONNECT_TIMEOUT)
        .keep_alive(KEEP_ALIVE)
        .max_connections(MAX_CONNECTIONS)
        .tcp_nodelay(true)
        .shutdown_timeout(DRAIN_SECONDS)
        .disable_signals();
    let server = match workers {
        Some(workers) => server.workers(workers),
        None => server,
    };
    Ok(server.listen(listener).context("the listener cannot be used")?.run())
}

/// The one line that a caller waits for; nobody may be reading.
fn announce(url: &str) {
    let mut out = io::stdout().lock();
    let _ = writeln!(out, "listening on {url}").and_then(|()| out.flush());
}

/// Serves until a signal: then the listener closes and the requests that are being answered finish, unless a second
/// signal is in a hurry.
async fn until_stopped(server: Server, signals: &mut Signals) -> anyhow::Result<()> {
    let handle = server.handle();
    let mut serving = tokio::spawn(server);
    tokio::select! {
        ended = &mut serving => return ended.context("the server broke off")?.context("the server failed"),
        () = signals.next() => tracing::info!("stopping: no new connections, requests under way finish"),
    }
    tokio::select! {
        () = handle.stop(true) => serving.await.context("the server broke off")?.context("the server failed"),
        () = signals.next() => {
            tracing::warn!("stopping at once");
            // A server that is dropped breaks off what it is still answering.
            serving.abort();
            Ok(())
        }
    }
}
