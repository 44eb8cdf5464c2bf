//! Board streams. The events of a DJ wake them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuepoint_domain::event::Event;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::operation::Position;
use tokio::sync::Notify;

use super::{ClientConnection, EventHub, Full, Hub, StreamKey};

/// The maximum number of board streams of a client address on this server.
const PER_ADDRESS: usize = 1_500;

/// The maximum number of board streams among this many streams: a fifth is left for events, which need a token.
pub(super) fn most(max_streams: usize) -> usize {
    max_streams.saturating_sub(max_streams.div_euclid(5))
}

/// The open streams of boards.
#[derive(Default)]
pub(super) struct BoardWatchers {
    open: HashMap<StreamKey, Watcher>,
    by_dj: HashMap<UserId, HashSet<StreamKey>>,
    by_network: HashMap<Option<ClientNetwork>, usize>,
}

struct Watcher {
    dj: UserId,
    network: Option<ClientNetwork>,
    connection: Arc<dyn ClientConnection>,
    signal: Arc<Signal>,
}

/// What a hub tells a stream.
#[derive(Default)]
struct Signal {
    woken: Notify,
    ended: Notify,
    is_ended: AtomicBool,
}

/// The registration of a board stream at the hub, until it is dropped.
pub struct BoardWatch {
    hub: Arc<Hub>,
    key: StreamKey,
    signal: Arc<Signal>,
}

impl BoardWatchers {
    pub(super) fn len(&self) -> usize {
        self.open.len()
    }

    /// Whether an address has room for a further stream.
    pub(super) fn has_room(&self, network: Option<ClientNetwork>) -> bool {
        self.by_network.get(&network).is_none_or(|open| *open < PER_ADDRESS)
    }

    /// The connections of all clients.
    pub(super) fn connections(&self) -> impl Iterator<Item = (StreamKey, &Arc<dyn ClientConnection>)> {
        self.open.iter().map(|(key, watcher)| (*key, &watcher.connection))
    }

    /// The connections of the clients of an address.
    pub(super) fn connections_from(
        &self,
        network: Option<ClientNetwork>,
    ) -> Vec<(StreamKey, Arc<dyn ClientConnection>)> {
        let of_network = self.open.iter().filter(|(_, watcher)| watcher.network == network);
        of_network.map(|(key, watcher)| (*key, Arc::clone(&watcher.connection))).collect()
    }

    pub(super) fn keys(&self) -> Vec<StreamKey> {
        self.open.keys().copied().collect()
    }

    /// Wakes the streams of the DJ of an event.
    pub(super) fn wake(&self, event: &Event) {
        let of_dj = event.audience().dj.and_then(|dj| self.by_dj.get(&dj));
        for key in of_dj.into_iter().flatten() {
            if let Some(watcher) = self.open.get(key) {
                watcher.signal.woken.notify_one();
            }
        }
    }

    /// Ends a stream, and returns its connection.
    pub(super) fn end(&mut self, key: StreamKey) -> Option<Arc<dyn ClientConnection>> {
        let watcher = self.remove(key)?;
        watcher.signal.is_ended.store(true, Ordering::Release);
        watcher.signal.woken.notify_one();
        watcher.signal.ended.notify_one();
        Some(watcher.connection)
    }

    fn add(&mut self, key: StreamKey, watcher: Watcher) {
        self.by_dj.entry(watcher.dj).or_default().insert(key);
        let of_network = self.by_network.entry(watcher.network).or_default();
        *of_network = of_network.saturating_add(1);
        self.open.insert(key, watcher);
    }

    fn remove(&mut self, key: StreamKey) -> Option<Watcher> {
        let watcher = self.open.remove(&key)?;
        if let Some(of_dj) = self.by_dj.get_mut(&watcher.dj) {
            of_dj.remove(&key);
            if of_dj.is_empty() {
                self.by_dj.remove(&watcher.dj);
            }
        }
        if let Some(of_network) = self.by_network.get_mut(&watcher.network) {
            *of_network = of_network.saturating_sub(1);
            if *of_network == 0 {
                self.by_network.remove(&watcher.network);
            }
        }
        Some(watcher)
    }
}

impl EventHub {
    /// Admits a board stream, which is woken by the events of a DJ after this position.
    ///
    /// # Errors
    /// [`Full::Server`] or [`Full::Address`].
    pub fn watch(
        &self,
        dj: UserId,
        network: Option<ClientNetwork>,
        connection: Arc<dyn ClientConnection>,
        after: Position,
    ) -> Result<BoardWatch, Full> {
        let Self(hub) = self;
        let signal = Arc::<Signal>::default();
        // The reader of the stream has read the board before.
        signal.woken.notify_one();
        let watcher = Watcher { dj, network, connection, signal: Arc::clone(&signal) };
        let mut streams = hub.lock();
        streams.make_room_for_watcher(network, hub.max_streams)?;
        let key = streams.next_key();
        streams.watchers.add(key, watcher);
        if streams.begin_to_follow(after) {
            hub.followed.notify_one();
        }
        streams.measure();
        drop(streams);
        Ok(BoardWatch { hub: Arc::clone(hub), key, signal })
    }
}

impl BoardWatch {
    /// The number of the stream on this server.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.key.0
    }

    /// Waits for an event since the last call, or for the end of the stream.
    pub async fn woken(&self) {
        self.signal.woken.notified().await;
    }

    /// Waits for the end of the stream.
    pub async fn ended(&self) {
        self.signal.ended.notified().await;
    }

    /// Whether the hub has ended the stream.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.signal.is_ended.load(Ordering::Acquire)
    }
}

impl Drop for BoardWatch {
    fn drop(&mut self) {
        let mut streams = self.hub.lock();
        if streams.watchers.remove(self.key).is_some() {
            streams.stop_following();
            streams.measure();
        }
        drop(streams.ended.remove(&self.key));
    }
}
