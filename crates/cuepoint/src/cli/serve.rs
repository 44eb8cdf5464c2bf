//! The life cycle of the service: start, announce, serve, stop.

use std::io::{self, IsTerminal, Write};
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::sync::Arc;

use actix_web::dev::Server;
use anyhow::{Context, anyhow};
use cuepoint_domain::application::{BootstrapRefusal, Bootstrapped, CommandError, Operators, WithoutKeys};
use cuepoint_domain::ports::{Opening, Store};
use socket2::{Domain, Socket, Type};

use crate::cli::signals::Signals;
use crate::cli::{endpoint_keys, service_manager};
use crate::composition::{self, Providers, ServiceKeys};
use crate::config::{Bootstrap, NO_OPERATOR, Settings};
use crate::jobs::{BackgroundJobs, Intervals};
use crate::web_application::WebApplication;
use cuepoint_adapters::clock::{ServiceClock, SystemClock};
use cuepoint_adapters::observability::metrics::Metrics;
use cuepoint_adapters::observability::telemetry::{ANNOUNCEMENTS, LogFormat};
use cuepoint_adapters::security::random::RandomSecrets;
use cuepoint_adapters::service::Service;
use cuepoint_pages::display::terminal_code;
use cuepoint_transport::web_server;
use cuepoint_transport::worker_pulse::WorkerPulse;

/// The listen backlog, unless the system allows less. It is sized for a reconnect storm: a dropped SYN is
/// retransmitted only after 1 s, then 3 s.
pub(crate) const BACKLOG: i32 = 4_096;

/// Runs the service until a stop signal, then drains the requests in flight. Without keys that webhook endpoints need
/// it does not start, or disables these endpoints.
///
/// When it listens it announces `listening on http://127.0.0.1:8080`, after a line with the data directory if
/// there is one: in the log if that is JSON, otherwise on standard output.
///
/// # Errors
/// When it cannot start; the message is one sentence that names the configuration key.
pub async fn serve(settings: Settings, without_keys: WithoutKeys) -> anyhow::Result<()> {
    serve_opened(&settings, without_keys, composition::open(&settings, Opening::AsConfigured)).await
}

/// Like [`serve`], but on the given store instead of the configured one. Once the address is bound, the store is
/// closed at the end.
///
/// # Errors
/// When it cannot start; the message is one sentence that names the configuration key.
pub async fn serve_on(settings: Settings, store: Arc<dyn Store>) -> anyhow::Result<()> {
    serve_opened(&settings, WithoutKeys::Wait, async { Ok(store) }).await
}

async fn serve_opened(
    settings: &Settings,
    without_keys: WithoutKeys,
    opening: impl Future<Output = anyhow::Result<Arc<dyn Store>>>,
) -> anyhow::Result<()> {
    let mut signals = Signals::listen()?;
    // Before anything else, because earlier measurements are lost.
    Metrics::install()?;
    let secrets = RandomSecrets::new()?;
    // Before the store, because its start may migrate the database.
    let providers = composition::check(settings, secrets)?;
    // Before the store as well: a server whose port is taken changes nothing.
    let bound = bind(settings)?;
    let store = opening.await?;
    let served = match composition::keys(settings, secrets, &SystemClock) {
        Ok(keys) => run(settings, bound, keys, without_keys, providers, &store, &mut signals).await,
        Err(error) => Err(error),
    };
    store.close().await;
    served
}

async fn run(
    settings: &Settings,
    bound: Bound,
    keys: ServiceKeys,
    without_keys: WithoutKeys,
    providers: Providers,
    store: &Arc<dyn Store>,
    signals: &mut Signals,
) -> anyhow::Result<()> {
    let Bound { socket, address } = bound;
    let url = format!("http://{address}");
    let clock = Arc::new(ServiceClock::at_rate(settings.server.clock_rate));
    let composed = composition::compose(settings, keys, providers, Arc::clone(store), clock, url.clone())?;
    let service = &composed.service;
    // Before the first write and the first request: a restart must not revive the token of an ended session.
    let read = service.authentication.revocations.refresh(&**store, &service.authentication.clock).await;
    read.context("the revocation list is unreliable")?;
    if without_keys == WithoutKeys::Wait {
        let missing = service.use_cases.deliveries.missing_keys().await;
        endpoint_keys::ensure_complete(&missing.context("the secrets of webhook endpoints are unreadable")?)?;
    }
    if let Some(operator) = settings.bootstrap.clone() {
        bootstrap(service, operator).await?;
    }
    for warning in settings.warnings() {
        tracing::warn!("{warning}");
    }
    if !service.use_cases.operators.has_active().await.context("the operators cannot be read")? {
        tracing::warn!("{NO_OPERATOR}");
    }
    let backend = composition::backend(settings);
    socket.listen(BACKLOG).with_context(|| cannot_listen(settings))?;
    let application = WebApplication::new(settings, Arc::clone(&composed.api), composed.pages.clone());
    let observer = application.observer.clone();
    let build = move || application.clone().build();
    let pulse = WorkerPulse::default();
    let server =
        web_server::server(build, observer, socket.into(), &settings.server.connections, pulse.clone())?;
    let intervals = Intervals {
        sweep: settings.requests.sweep_interval,
        topups: settings.topups.poll_interval,
        payouts: settings.payouts.poll_interval,
        audit: settings.audit_interval,
    };
    let background = BackgroundJobs::start(&composed, intervals, without_keys);
    announce(settings.environment.log_format(), backend.data_directory().as_deref(), &url);
    let origin = &composed.api.settings.public_url;
    if settings.pages.enabled {
        show_start_page(origin, settings.server.public_url.is_some());
    }
    show_code(&service.use_cases.operators, origin, settings.pages.enabled).await;
    tracing::info!("API documentation at {origin}/docs/");
    let reports = tokio::spawn(service_manager::report(service.use_cases.readiness.clone(), pulse));
    let ended = until_stopped(service, server, signals).await;
    reports.abort();
    background.stop().await;
    tracing::info!("stopped");
    ended
}

/// A socket with the configured address. It does not listen yet: until the service can answer, connections are
/// refused instead of waiting.
pub(crate) struct Bound {
    socket: Socket,
    address: SocketAddr,
}

/// Binds the configured address.
///
/// # Errors
/// When it is in use, or no address of this machine.
pub(crate) fn bind(settings: &Settings) -> anyhow::Result<Bound> {
    let socket = bound(&settings.server.host, settings.server.port);
    let socket = socket.with_context(|| cannot_listen(settings))?;
    let address = socket.local_addr()?.as_socket().context("the listening address is unknown")?;
    Ok(Bound { socket, address })
}

/// Whether an address could not be bound because another socket listens there.
pub(crate) fn is_in_use(error: &anyhow::Error) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::AddrInUse)
}

fn cannot_listen(settings: &Settings) -> String {
    let (host, port) = (settings.server.host.as_str(), settings.server.port);
    format!("server.host, server.port: cannot listen on {host} port {port}")
}

/// A socket that is bound to the first address of a host that can be used.
fn bound(host: &str, port: u16) -> io::Result<Socket> {
    let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in (host, port).to_socket_addrs()? {
        match bound_to(address) {
            Ok(socket) => return Ok(socket),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn bound_to(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // A restart must not wait for closed connections of the last process. It does not hide another listener.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    Ok(socket)
}

/// The address under which this machine reaches a server that listens there.
pub(crate) fn local_origin(host: &str, port: u16) -> String {
    let host = match host {
        "0.0.0.0" => "127.0.0.1".to_owned(),
        "::" => "[::1]".to_owned(),
        host if host.contains(':') => format!("[{host}]"),
        host => host.to_owned(),
    };
    format!("http://{host}:{port}")
}

async fn bootstrap(service: &Service, operator: Bootstrap) -> anyhow::Result<()> {
    let made = service.use_cases.operators.bootstrap(operator.email, operator.password).await;
    let made = made.map_err(|error| match error {
        CommandError::Refused(BootstrapRefusal::BreachedPassword) => {
            anyhow!("bootstrap.operator_password: is known from breaches")
        }
        CommandError::Failed(failure) => {
            anyhow!(failure).context("bootstrap.operator_email: the operator cannot be created")
        }
    })?;
    match made {
        Bootstrapped::Made(user) => tracing::info!(%user, "the first operator was created"),
        Bootstrapped::MadeBefore => {
            tracing::info!(
                "bootstrap.operator_email is ignored, because the first operator was already created"
            );
        }
        Bootstrapped::AddressTaken => tracing::warn!(
            "no operator was created, because bootstrap.operator_email belongs to an account: configure an unused \
             address"
        ),
    }
    Ok(())
}

/// Announces the place of the data, and the line that a supervisor waits for. A failed write is ignored, because
/// standard output may be closed.
fn announce(format: LogFormat, data_directory: Option<&Path>, url: &str) {
    let place = data_directory.map(|path| format!("data directory: {}", path.display()));
    for line in place.into_iter().chain([format!("listening on {url}")]) {
        match format {
            LogFormat::Json => tracing::info!(target: ANNOUNCEMENTS, "{line}"),
            LogFormat::Text => {
                let mut out = io::stdout().lock();
                let _ = writeln!(out, "{line}").and_then(|()| out.flush());
            }
        }
    }
}

/// Prints the address of the start page to a terminal. A configured address, which other devices can reach, has a QR code.
fn show_start_page(origin: &str, is_configured: bool) {
    if !io::stdout().is_terminal() {
        return;
    }
    let url = format!("{origin}/");
    let code = terminal_code(&url).filter(|_| is_configured);
    let code = code.map(|code| format!("\n{code}\n")).unwrap_or_default();
    // A failed write is ignored, because the terminal may be closed.
    drop(io::stdout().lock().write_all(format!("\nstart page: {url}\n{code}").as_bytes()));
}

/// Prints the code with which the first operator registers, while there was none, to a terminal alone: a file or a journal
/// would keep it.
async fn show_code(operators: &Operators, origin: &str, has_pages: bool) {
    if !io::stdout().is_terminal() {
        return;
    }
    let code = match operators.issue_code().await {
        Ok(Some(code)) => code.0,
        Ok(None) => return,
        Err(error) => return tracing::warn!(%error, "no code for the first operator was issued"),
    };
    let operation = format!("POST {origin}/api/v1/auth/first-operator");
    let takes = if has_pages {
        format!("The page {origin}/first-operator and {operation} take it")
    } else {
        format!("{operation} takes it")
    };
    let shown = format!(
        "\nThere is no operator yet. Within an hour, register the first one with this code:\n\n    {code}\n\n\
         {takes}; `cuepoint operator add EMAIL` needs none.\n\n"
    );
    // A failed write is ignored, because the terminal may be closed.
    drop(io::stdout().lock().write_all(shown.as_bytes()));
}

/// Serves until a signal, then ends the streams of events, closes the listener and drains the requests in
/// flight. A second signal stops at once.
async fn until_stopped(service: &Service, server: Server, signals: &mut Signals) -> anyhow::Result<()> {
    let handle = server.handle();
    let mut serving = tokio::spawn(server);
    tokio::select! {
        ended = &mut serving => return ended.context("the server task was aborted")?.context("the server failed"),
        () = signals.next() => {
            service_manager::stopping();
            tracing::info!("stopping: draining requests in flight");
        }
    }
    // They would keep their connections open until the end of the time for requests in flight.
    service.event_hub.close();
    tokio::select! {
        () = handle.stop(true) => serving.await.context("the server task was aborted")?.context("the server failed"),
        () = signals.next() => {
            tracing::warn!("stopping at once");
            // Dropping the server aborts the remaining requests.
            serving.abort();
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_backlog_holds_300_connections() {
        let socket = bound("127.0.0.1", 0).unwrap();
        socket.listen(BACKLOG).unwrap();
        let address = socket.local_addr().unwrap().as_socket().unwrap();
        // No connection is accepted, and each must be established before the SYN would be retransmitted.
        let come = || std::net::TcpStream::connect_timeout(&address, Duration::from_millis(900)).unwrap();
        let crowd: Vec<_> = (0..300).map(|_| come()).collect();
        assert_eq!(crowd.len(), 300);
    }
}
