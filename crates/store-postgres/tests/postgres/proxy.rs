//! A faulty network between the store and its server.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// The state of the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ProxyMode {
    /// All traffic passes.
    Fair,
    /// Every connection is cut, including new ones.
    Cut,
    /// Connections are accepted and stay open, but no data passes.
    Silent,
    /// The next COMMIT reaches the server, but its reply is lost with the connection.
    LosesCommitAnswer,
    /// The next COMMIT reaches the server, but its reply never arrives, though the connection stays open.
    HoldsCommitAnswer,
    /// The next COMMIT is lost with the connection.
    LosesCommit,
}

/// A proxy in front of a server.
pub(crate) struct Proxy {
    address: SocketAddr,
    mode: watch::Sender<ProxyMode>,
    seen: Arc<Seen>,
}

/// The number of messages of each kind that passed.
#[derive(Default)]
struct Seen {
    discards: AtomicUsize,
    commits_with_writes: AtomicUsize,
}

impl Seen {
    fn note(&self, bytes: &[u8]) {
        if contains(bytes, b"DISCARD PLANS\0") {
            self.discards.fetch_add(1, Ordering::Relaxed);
        }
        if bytes.len() > LONE_COMMIT && contains(bytes, COMMIT) {
            self.commits_with_writes.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Whether bytes contain a text.
fn contains(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// The end of the statement, and the tag in the reply to it.
const COMMIT: &[u8] = b"COMMIT\0";
/// The length of the message COMMIT.
const LONE_COMMIT: usize = 12;

impl Proxy {
    /// A proxy in front of the server of this URL that passes all traffic.
    pub(crate) async fn before(url: &str) -> Self {
        let config: tokio_postgres::Config = url.parse().unwrap();
        let tokio_postgres::config::Host::Tcp(host) = config.get_hosts()[0].clone() else {
            panic!("the cluster listens on no port")
        };
        let server = format!("{host}:{}", config.get_ports()[0]);
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mode = watch::Sender::new(ProxyMode::Fair);
        let (forecast, seen) = (mode.clone(), Arc::<Seen>::default());
        let noting = Arc::clone(&seen);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let server = server.clone();
                tokio::spawn(carry(client, server, forecast.clone(), Arc::clone(&noting)));
            }
        });
        Self { address, mode, seen }
    }

    /// The number of times that plans were discarded.
    pub(crate) fn discards(&self) -> usize {
        self.seen.discards.load(Ordering::Relaxed)
    }

    /// The number of COMMITs that arrived together with other statements.
    pub(crate) fn commits_with_writes(&self) -> usize {
        self.seen.commits_with_writes.load(Ordering::Relaxed)
    }

    /// The URL with this proxy in place of the server.
    pub(crate) fn url(&self, url: &str) -> String {
        let config: tokio_postgres::Config = url.parse().unwrap();
        let (user, database) = (config.get_user().unwrap(), config.get_dbname().unwrap());
        format!("postgres://{user}@{}/{database}", self.address)
    }

    pub(crate) fn turn(&self, mode: ProxyMode) {
        self.mode.send_replace(mode);
    }
}

/// Forwards bytes both ways for as long as the state of the network allows.
async fn carry(mut client: TcpStream, server: String, mode: watch::Sender<ProxyMode>, seen: Arc<Seen>) {
    let mut forecast = mode.subscribe();
    if *forecast.borrow() == ProxyMode::Cut {
        return;
    }
    let mut server = TcpStream::connect(server).await.unwrap();
    let (mut from_client, mut from_server) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        let now = *forecast.borrow_and_update();
        match now {
            ProxyMode::Cut => return,
            ProxyMode::Silent => {
                if forecast.changed().await.is_err() {
                    return;
                }
                continue;
            }
            ProxyMode::Fair
            | ProxyMode::LosesCommit
            | ProxyMode::LosesCommitAnswer
            | ProxyMode::HoldsCommitAnswer => {}
        }
        tokio::select! {
            changed = forecast.changed() => if changed.is_err() { return },
            read = client.read(&mut from_client) => {
                let Ok(length @ 1..) = read else { return };
                let bytes = &from_client[..length];
                let commits = contains(bytes, COMMIT);
                seen.note(bytes);
                if commits && now == ProxyMode::LosesCommit {
                    mode.send_replace(ProxyMode::Fair);
                    return;
                }
                server.write_all(bytes).await.unwrap();
                if commits && matches!(now, ProxyMode::LosesCommitAnswer | ProxyMode::HoldsCommitAnswer) {
                    // The replies to the writes come first.
                    until_committed(&mut server).await;
                    mode.send_replace(ProxyMode::Fair);
                    if now == ProxyMode::HoldsCommitAnswer {
                        // Until the client gives up.
                        while matches!(client.read(&mut from_client).await, Ok(1..)) {}
                    }
                    return;
                }
            }
            read = server.read(&mut from_server) => {
                let Ok(length @ 1..) = read else { return };
                if client.write_all(&from_server[..length]).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Reads the replies of the server up to that of COMMIT.
async fn until_committed(server: &mut TcpStream) {
    let (mut replies, mut part) = (Vec::new(), vec![0; 65_536]);
    while !contains(&replies, COMMIT) {
        let Ok(length @ 1..) = server.read(&mut part).await else { return };
        replies.extend_from_slice(&part[..length]);
    }
}
