//! Board streams. The events of a DJ wake them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cuepoint_domain::event::Event;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::operation::Position;
use tokio::sync::Notify;

use super::{ClientConnection, EventHub, Full, Hub, StreamKey, Streams};

/// The maximum number of board streams among this many streams: a fifth is left for events, which need a token.
fn most(max_streams: usize) -> usize {
    max_streams.saturating_sub(max_streams.div_euclid(5))
}

/// The open streams of boards.
#[derive(Default)]
pub(super) struct BoardWatchers {
    open: HashMap<StreamKey, Watcher>,
    by_dj: HashMap<UserId, HashSet<StreamKey>>,
}

struct Watcher {
    dj: UserId,
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

    /// The connection of the client of a stream.
    pub(super) fn connection(&self, key: StreamKey) -> Option<&Arc<dyn ClientConnection>> {
        self.open.get(&key).map(|watcher| &watcher.connection)
    }

    /// The connections of all clients.
    pub(super) fn connections(&self) -> impl Iterator<Item = (StreamKey, &Arc<dyn ClientConnection>)> {
        self.open.iter().map(|(key, watcher)| (*key, &watcher.connection))
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

    fn add(&mut self, key: StreamKey, watcher: Watcher) {
        self.by_dj.entry(watcher.dj).or_default().insert(key);
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
        Some(watcher)
    }
}

impl Streams {
    fn make_room_for_watcher(
        &mut self,
        network: Option<ClientNetwork>,
        max_streams: usize,
    ) -> Result<(), Full> {
        let room = |streams: &Self| match streams.addresses.has_room(network) {
            _ if streams.is_closed || streams.len() >= max_streams => Err(Full::Server),
            _ if streams.watchers.len() >= most(max_streams) => Err(Full::Server),
            true => Ok(()),
            false => Err(Full::Address),
        };
        room(self).or_else(|full| {
            match full {
                Full::Address => self.end_abandoned_at(network),
                Full::User | Full::Server => self.end_all_abandoned(),
            }
            room(self)
        })
    }

    /// Ends a board stream, and returns its connection.
    pub(super) fn end_watcher(&mut self, key: StreamKey) -> Option<Arc<dyn ClientConnection>> {
        let Watcher { connection, signal, .. } = self.remove_watcher(key)?;
        signal.is_ended.store(true, Ordering::Release);
        signal.woken.notify_one();
        signal.ended.notify_one();
        Some(connection)
    }

    fn remove_watcher(&mut self, key: StreamKey) -> Option<Watcher> {
        let watcher = self.watchers.remove(key)?;
        self.addresses.remove(key);
        self.stop_following();
        self.measure();
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
        let watcher = Watcher { dj, connection, signal: Arc::clone(&signal) };
        let mut streams = hub.lock();
        streams.make_room_for_watcher(network, hub.max_streams)?;
        let key = streams.next_key();
        streams.watchers.add(key, watcher);
        streams.addresses.add(key, network);
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
        drop((streams.remove_watcher(self.key), streams.ended.remove(&self.key)));
    }
}
