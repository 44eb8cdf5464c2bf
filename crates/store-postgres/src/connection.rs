//! Connections: where to, encrypted or not, and with which time limits.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::AsyncPgConnection;
use tokio_postgres::NoTls;
use tokio_postgres::config::{Config, Host, SslMode};
use tokio_postgres_rustls::MakeRustlsConnect;

/// How long connecting may take, to each address of the server.
const CONNECT_TIMEOUT: Duration = Duration::from_millis(1_500);
/// Limits that the server keeps for us, in milliseconds: a statement, a wait for a lock, a transaction gone silent.
const SESSION_LIMITS: &str =
    "-c statement_timeout=2000 -c lock_timeout=1200 -c idle_in_transaction_session_timeout=10000";
/// That a prepared statement is planned once.
const PLAN_ONCE: &str = "-c plan_cache_mode=force_generic_plan";
/// How long a connection is silent before the server is asked whether it is still there.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// How to reach the server; it prints as nothing, since it holds the password.
#[derive(Clone)]
pub(crate) struct Connector {
    config: Config,
    tls: Option<MakeRustlsConnect>,
}

impl Connector {
    /// Reads a connection URL.
    ///
    /// Without encryption only on loopback or a local socket; elsewhere the certificate and the host's name are
    /// verified against the system's roots. No error repeats the URL.
    pub(crate) fn new(url: &str) -> anyhow::Result<Self> {
        let url = url.replace("sslmode=verify-full", "sslmode=require");
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            anyhow::anyhow!("storage.postgres.url cannot be read: {}", cause(&error))
        })?;
        ensure!(
            !config.get_hosts().is_empty() || !config.get_hostaddrs().is_empty(),
            "storage.postgres.url names no host"
        );
        let tls = match (config.get_ssl_mode(), is_local(&config)) {
            (SslMode::Disable | SslMode::Prefer, true) => None,
            (SslMode::Disable, false) => {
                bail!("storage.postgres.url has sslmode=disable for a server that is not on this machine")
            }
            _ => Some(tls()?),
        };
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        config.application_name("cuepoint");
        config.connect_timeout(CONNECT_TIMEOUT);
        config.keepalives_idle(KEEPALIVE);
        config.tcp_user_timeout(Duration::from_secs(5));
        let options = config
            .get_options()
            .map_or_else(|| SESSION_LIMITS.to_owned(), |theirs| format!("{SESSION_LIMITS} {theirs}"));
        config.options(options);
        Ok(Self { config, tls })
    }

    /// The same, for connections that plan each statement once: left to itself, the server plans a list anew at every call,
    /// since it does not know beforehand how short a page is. A partial index is then used only where its condition stands in
    /// the statement as it is.
    pub(crate) fn planning_once(&self) -> Self {
        let mut once = self.clone();
        let options = once.config.get_options().unwrap_or_default();
        let options = format!("{PLAN_ONCE} {options}");
        once.config.options(options);
        once
    }

    /// Opens a connection, which lives as long as the present runtime.
    pub(crate) async fn connect(&self) -> ConnectionResult<AsyncPgConnection> {
        match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await.map_err(refused)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await.map_err(refused)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
        }
    }
}

impl Connector {
    /// Opens a connection of the driver itself, which knows COPY and the SQLSTATE of each failure.
    pub(crate) async fn client(&self) -> anyhow::Result<tokio_postgres::Client> {
        Ok(match &self.tls {
            None => {
                let (client, connection) = self.config.connect(NoTls).await?;
                tokio::spawn(connection);
                client
            }
            Some(tls) => {
                let (client, connection) = self.config.connect(tls.clone()).await?;
                tokio::spawn(connection);
                client
            }
        })
    }
}

fn refused(error: tokio_postgres::Error) -> ConnectionError {
    ConnectionError::BadConnection(cause(&error))
}

/// An error with all its causes, in one line.
fn cause(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(source) = next {
        text = format!("{text}: {source}");
        next = source.source();
    }
    text
}

fn is_local(config: &Config) -> bool {
    let local = |host: &Host| match host {
        Host::Tcp(name) => name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback()),
        Host::Unix(_) => true,
    };
    if config.get_hostaddrs().is_empty() {
        config.get_hosts().iter().all(local)
    } else {
        config.get_hostaddrs().iter().all(IpAddr::is_loopback)
    }
}

fn tls() -> anyhow::Result<MakeRustlsConnect> {
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    ensure!(!roots.is_empty(), "this machine has no root certificates to verify the database server with");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .context("TLS cannot be set up")?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(url: &str) -> String {
        Connector::new(url).err().map(|error| format!("{error:#}")).unwrap_or_default()
    }

    #[test]
    fn only_a_server_on_this_machine_is_reached_without_encryption() {
        for url in [
            "postgres://app@127.0.0.1/cuepoint",
            "postgres://app@localhost/cuepoint?sslmode=disable",
            "host=/run/postgresql dbname=cuepoint",
        ] {
            assert!(Connector::new(url).unwrap().tls.is_none(), "{url}");
        }
        for url in ["postgres://app@db.example.com/cuepoint", "host=10.0.0.5", "host=::1 sslmode=verify-full"]
        {
            assert!(Connector::new(url).unwrap().tls.is_some(), "{url}");
        }
        assert!(
            refusal("postgres://app@db.example.com/cuepoint?sslmode=disable").contains("sslmode=disable")
        );
    }

    #[test]
    fn no_refusal_repeats_the_password() {
        for url in [
            "postgres://app:hunter2@db.example.com:port/x",
            "postgres://app:hunter2@/x",
            "postgres://app:hunter2@db.example.com/x?sslmode=disable",
            "password=hunter2 sslmode=never",
        ] {
            let refusal = refusal(url);
            assert!(!refusal.is_empty() && !refusal.contains("hunter2"), "{url}: {refusal}");
        }
    }
}
