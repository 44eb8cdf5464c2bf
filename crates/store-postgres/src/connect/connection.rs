//! Connections: choice of the node, encryption and time limits.

use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use diesel::{ConnectionError, ConnectionResult};
use diesel_async::AsyncPgConnection;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use tokio_postgres::config::{Config, Host, SslMode, TargetSessionAttrs};
use tokio_postgres::{AsyncMessage, Client, Connection, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::connect::cluster::{AdmittedConnection, Cluster};
use crate::connect::failure::Refusal;
use crate::connect::node::{
    LEVEL_LOCKS, Node, OPTIONS_ARRIVED, RESTORE_LOCK, SHARE_LOCKS, ensure_unmarked, share_locks,
};

/// Time limit for connecting, over all hosts of the URL.
const CONNECT_WITHIN: Duration = Duration::from_millis(2_400);
/// Time limit for connecting to one host, which leaves time for another address of its name.
const TCP_CONNECT_WITHIN: Duration = Duration::from_millis(1_500);
/// Limits enforced by the server, in milliseconds: statement, lock wait, idle transaction.
const SESSION_LIMITS: &str =
    "-c statement_timeout=2000 -c lock_timeout=1200 -c idle_in_transaction_session_timeout=10000";
/// The idle limit of transactions that hold the lock of positions, for which all servers wait.
pub(crate) const POSITIONS_LOCK_LIMIT: &str = "idle_in_transaction_session_timeout=2000";
/// Plans a prepared statement once.
const PLAN_ONCE: &str = "-c plan_cache_mode=force_generic_plan";
/// Idle time of a connection before the first keepalive probe.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// The parameters of connections; redacted in `Debug`, since they include the password.
#[derive(Clone)]
pub(crate) struct Connector {
    /// One configuration for each host of the URL.
    hosts: Vec<Config>,
    tls: Option<MakeRustlsConnect>,
    cluster: Arc<Cluster>,
    /// The host of the last connection, which is tried first.
    last: Arc<AtomicUsize>,
    /// Whether its connections prevent a restore from starting.
    shares_restore_lock: bool,
}

/// The setting of the configured URL.
const CONFIGURED: &str = "storage.postgres.url";

impl Connector {
    /// Parses a connection URL, which may name several hosts.
    ///
    /// Unencrypted connections are allowed only on loopback or a local socket; elsewhere the certificate and
    /// the host's name are verified against the system's roots. No error repeats the URL.
    pub(crate) fn new(url: &str) -> anyhow::Result<Self> {
        Self::given_by(CONFIGURED, url)
    }

    /// Parses a connection URL that another setting than the configured one gives.
    pub(crate) fn given_by(setting: &str, url: &str) -> anyhow::Result<Self> {
        let url = url.replace("sslmode=verify-full", "sslmode=require");
        let mut config: Config = url.parse().map_err(|error: tokio_postgres::Error| {
            anyhow::anyhow!("{setting} must be a URL such as postgres://user@host/name: {}", cause(&error))
        })?;
        ensure!(
            !config.get_hosts().is_empty() || !config.get_hostaddrs().is_empty(),
            "{setting} names no host"
        );
        let (names, addresses) = (config.get_hosts().len(), config.get_hostaddrs().len());
        ensure!(
            names == 0 || addresses == 0 || names == addresses,
            "{setting} has {names} hosts and {addresses} hostaddrs"
        );
        let tls = match (config.get_ssl_mode(), is_local(&config)) {
            (SslMode::Disable | SslMode::Prefer, true) => None,
            (SslMode::Disable, false) => {
                bail!("{setting} has sslmode=disable for a server that is not on this machine")
            }
            _ => Some(tls()?),
        };
        config.ssl_mode(if tls.is_some() { SslMode::Require } else { SslMode::Disable });
        let limits = format!("{SESSION_LIMITS} -c {OPTIONS_ARRIVED}=arrived");
        let options =
            config.get_options().map_or_else(|| limits.clone(), |theirs| format!("{limits} {theirs}"));
        config.options(options);
        Ok(Self {
            hosts: hosts(&config),
            tls,
            cluster: Arc::default(),
            last: Arc::default(),
            shares_restore_lock: true,
        })
    }

    /// Returns a connector that plans each statement once: by default the server plans a list anew at every
    /// execution, since it cannot estimate the length of a page. A partial index is then used only if the
    /// statement contains its condition literally.
    pub(crate) fn planning_once(&self) -> Self {
        let mut once = self.clone();
        for host in &mut once.hosts {
            let options = format!("{PLAN_ONCE} {}", host.get_options().unwrap_or_default());
            host.options(options);
        }
        once
    }

    /// Returns the connector of the writer, which plans each statement once.
    pub(crate) fn for_writer(&self) -> Self {
        let mut writer = self.planning_once();
        for host in &mut writer.hosts {
            let options = format!("{} -c {POSITIONS_LOCK_LIMIT}", host.get_options().unwrap_or_default());
            host.options(options);
        }
        writer
    }

    /// Returns the connector of a restore, which does not share the lock that a restore holds exclusively.
    pub(crate) fn for_restore(&self) -> Self {
        Self { shares_restore_lock: false, ..self.named("cuepoint restore") }
    }

    /// Returns a connector for the connections of a command: the database shows them under this name, and
    /// those of a server as `cuepoint`.
    pub(crate) fn named(&self, program: &str) -> Self {
        let mut named = self.clone();
        for host in &mut named.hosts {
            host.application_name(program);
        }
        named
    }

    /// The state of the cluster behind the connector.
    pub(crate) fn cluster(&self) -> &Cluster {
        &self.cluster
    }

    /// Opens a connection to the first host with a usable node, starting with the host of the last
    /// connection. It lives as long as the current runtime.
    pub(crate) async fn open(&self) -> ConnectionResult<AdmittedConnection> {
        let first = self.last.load(Ordering::Relaxed);
        let mut refusals = Vec::new();
        let in_turn = self.hosts.iter().enumerate().cycle().skip(first).take(self.hosts.len());
        for (place, host) in in_turn {
            match self.connect_to(host).await {
                Ok(opened) => {
                    self.last.store(place, Ordering::Relaxed);
                    return Ok(opened);
                }
                Err(error) => refusals.push(format!("{}: {error}", name_of(host))),
            }
        }
        Err(ConnectionError::BadConnection(refusals.join("; ")))
    }

    /// Opens a connection for work that closes it when done.
    pub(crate) async fn connect(&self) -> ConnectionResult<AsyncPgConnection> {
        self.open().await.map(AdmittedConnection::into_inner)
    }

    /// Connects to every host once, so that a server that has just started knows the newest timeline among
    /// them and does not mistake a replaced primary for the current one.
    pub(crate) async fn survey(&self) {
        if self.hosts.len() > 1 {
            futures_util::future::join_all(self.hosts.iter().map(|host| self.connect_to(host))).await;
        }
    }

    async fn connect_to(&self, host: &Config) -> ConnectionResult<AdmittedConnection> {
        let opening = async {
            let connection = self.dial(host).await?;
            let node = Node::describe(&connection).await.map_err(bad)?;
            let generation = self.cluster.admit(&node).map_err(bad)?;
            if self.shares_restore_lock {
                share_locks(&connection).await.map_err(bad)?;
                // While a server had no connection, the database may have been copied to another store.
                if self.cluster.is_recognised() {
                    ensure_unmarked(&connection).await.map_err(bad)?;
                }
            }
            Ok(AdmittedConnection::new(connection, &node, generation))
        };
        let opened = timeout(self.connect_within(), opening).await;
        opened.unwrap_or_else(|_| Err(bad("the server did not answer in time")))
    }

    async fn dial(&self, host: &Config) -> ConnectionResult<AsyncPgConnection> {
        match &self.tls {
            None => {
                let (client, connection) = host.connect(NoTls).await.map_err(refused)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
            Some(tls) => {
                let (client, connection) = host.connect(tls.clone()).await.map_err(refused)?;
                AsyncPgConnection::try_from_client_and_connection(client, connection).await
            }
        }
    }
}

impl Connector {
    /// Opens a connection of the driver itself, which reports the SQLSTATE of each failure. The same nodes
    /// are refused.
    pub(crate) async fn client(&self) -> anyhow::Result<Client> {
        let mut refusals = Vec::new();
        for host in &self.hosts {
            match self.client_of(host, || {}).await {
                Ok(client) => return Ok(client),
                Err(error) => refusals.push(format!("{}: {error:#}", name_of(host))),
            }
        }
        bail!("no connection to the database: {}", refusals.join("; "))
    }

    /// Opens a connection that executes this `LISTEN` and calls `heard` for each notification.
    pub(crate) async fn listen(
        &self,
        statement: &str,
        heard: impl Fn() + Clone + Send + 'static,
    ) -> anyhow::Result<ListeningClient> {
        // Before the node is admitted: a newer one is noticed later.
        let generation = self.cluster.generation();
        let mut refusals = Vec::new();
        for host in &self.hosts {
            let opening = async {
                let client = self.client_of(host, heard.clone()).await?;
                client.batch_execute(statement).await?;
                anyhow::Ok(client)
            };
            match timeout(self.connect_within(), opening).await {
                Ok(Ok(client)) => return Ok(ListeningClient { client, generation }),
                Ok(Err(error)) => refusals.push(format!("{}: {error:#}", name_of(host))),
                Err(_) => refusals.push(format!("{}: the server did not answer in time", name_of(host))),
            }
        }
        bail!("no connection to the database: {}", refusals.join("; "))
    }

    /// The time limit for connecting to one host.
    fn connect_within(&self) -> Duration {
        let hosts = u32::try_from(self.hosts.len()).unwrap_or(u32::MAX);
        CONNECT_WITHIN.checked_div(hosts).unwrap_or(CONNECT_WITHIN)
    }

    async fn client_of(&self, host: &Config, heard: impl FnMut() + Send + 'static) -> anyhow::Result<Client> {
        let client = match &self.tls {
            None => driven(host.connect(NoTls).await, heard),
            Some(tls) => driven(host.connect(tls.clone()).await, heard),
        };
        let client = client.map_err(|error| anyhow::anyhow!(cause(&error)))?;
        self.cluster.admit(&Node::describe_to(&client).await?)?;
        if self.shares_restore_lock {
            let level = i32::from(FeatureLevel::NEWEST.number());
            let shared = client.query_one(SHARE_LOCKS, &[&RESTORE_LOCK, &LEVEL_LOCKS, &level]).await?;
            ensure!(shared.get::<_, bool>(0), Refusal::Restoring);
        }
        Ok(client)
    }
}

/// A client that listens for notifications.
pub(crate) struct ListeningClient {
    pub(crate) client: Client,
    /// The generation of connections that it belongs to.
    pub(crate) generation: u64,
}

/// The client of a connection, driven by a task of the current runtime, which calls `heard` for each
/// notification.
fn driven<S, T>(
    connected: Result<(Client, Connection<S, T>), tokio_postgres::Error>,
    mut heard: impl FnMut() + Send + 'static,
) -> Result<Client, tokio_postgres::Error>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (client, mut connection) = connected?;
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
            if matches!(message, AsyncMessage::Notification(_)) {
                heard();
            }
        }
    });
    Ok(client)
}

/// The configuration of each host by itself: the driver would not try the next host after a node is refused.
fn hosts(config: &Config) -> Vec<Config> {
    let count = config.get_hosts().len().max(config.get_hostaddrs().len());
    (0..count).map(|place| host(config, place)).collect()
}

/// The host and port of a configuration, for messages.
fn name_of(host: &Config) -> String {
    let name = match (host.get_hosts().first(), host.get_hostaddrs().first()) {
        (Some(Host::Tcp(name)), _) => name.clone(),
        (Some(Host::Unix(folder)), _) => folder.display().to_string(),
        (None, address) => address.map(ToString::to_string).unwrap_or_default(),
    };
    host.get_ports().first().map_or_else(|| name.clone(), |port| format!("{name} port {port}"))
}

fn host(config: &Config, place: usize) -> Config {
    let mut host = Config::new();
    match config.get_hosts().get(place) {
        Some(Host::Tcp(name)) => drop(host.host(name.as_str())),
        Some(Host::Unix(folder)) => drop(host.host_path(folder)),
        None => {}
    }
    if let Some(address) = config.get_hostaddrs().get(place) {
        host.hostaddr(*address);
    }
    // A single port applies to every host.
    if let Some(port) = config.get_ports().get(place).or_else(|| config.get_ports().first()) {
        host.port(*port);
    }
    config.get_user().map(|user| host.user(user));
    config.get_password().map(|password| host.password(password));
    config.get_dbname().map(|name| host.dbname(name));
    config.get_options().map(|options| host.options(options));
    host.application_name("cuepoint")
        .ssl_mode(config.get_ssl_mode())
        .ssl_negotiation(config.get_ssl_negotiation())
        .channel_binding(config.get_channel_binding())
        .keepalives(config.get_keepalives())
        .keepalives_idle(KEEPALIVE)
        .connect_timeout(TCP_CONNECT_WITHIN)
        .tcp_user_timeout(Duration::from_secs(5))
        // If a name resolves to several addresses, the standbys among them are skipped.
        .target_session_attrs(TargetSessionAttrs::ReadWrite);
    host
}

fn bad(error: impl std::fmt::Display) -> ConnectionError {
    ConnectionError::BadConnection(error.to_string())
}

fn refused(error: tokio_postgres::Error) -> ConnectionError {
    ConnectionError::BadConnection(cause(&error))
}

/// Formats an error with all its causes in one line.
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
    fn only_local_connections_may_be_unencrypted() {
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
    fn each_host_of_the_url_keeps_the_shared_options() {
        let connector = Connector::new("postgres://app:secret@[::1]:5001,127.0.0.1:5002/cuepoint").unwrap();
        let ports: Vec<&[u16]> = connector.hosts.iter().map(Config::get_ports).collect();
        assert_eq!(ports, [[5001], [5002]]);
        for host in connector.hosts.iter().chain(&connector.planning_once().hosts) {
            assert_eq!((host.get_user(), host.get_dbname()), (Some("app"), Some("cuepoint")));
            assert_eq!(host.get_password(), Some("secret".as_bytes()));
            assert!(host.get_options().unwrap().contains("statement_timeout=2000"));
        }
        for host in &connector.for_writer().hosts {
            let options = host.get_options().unwrap();
            assert!(
                options.contains("force_generic_plan") && options.ends_with(POSITIONS_LOCK_LIMIT),
                "{options}"
            );
        }
        let uneven = refusal("host=127.0.0.1,db.example.com hostaddr=127.0.0.1");
        assert!(uneven.contains("2 hosts and 1 hostaddrs"), "{uneven}");
        let one_port = Connector::new("host=localhost,127.0.0.1 port=5003").unwrap();
        assert!(one_port.hosts.iter().all(|host| host.get_ports() == [5003]));
    }

    #[test]
    fn errors_about_refused_database_urls_hide_the_password() {
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
