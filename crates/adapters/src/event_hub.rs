//! The open streams of events on this server, and the distribution of events to them.
//!
//! One reader per server reads the operations of all servers and delivers each event to the streams of the involved
//! users, so that a stream holds no connection to the database.

mod address_streams;
mod board_watchers;
mod subscription;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cuepoint_domain::authorization::{Epoch, Principal};
use cuepoint_domain::event::Event;
use cuepoint_domain::event::Feed;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::network::ClientNetwork;
use cuepoint_domain::operation::Position;
use cuepoint_domain::timestamp::Timestamp;
use tokio::sync::{Notify, mpsc};
use tokio::time::Instant;

use crate::observability::metrics;
use address_streams::AddressStreams;
pub use board_watchers::BoardWatch;
use board_watchers::BoardWatchers;
pub use subscription::Subscription;

/// The maximum number of open streams of a user on this server.
pub const PER_USER: usize = 6;
/// The maximum number of undelivered events of a stream.
const BUFFER: usize = 256;

/// The minimum interval between searches of all streams for closed connections.
const ABANDONED_SOUGHT_EVERY: Duration = Duration::from_secs(1);
/// Time limit for a client to read the end of a stream.
const END_READ_WITHIN: Duration = Duration::from_secs(2);

/// The authority under which a stream was opened.
#[derive(Clone, Copy, Debug)]
pub struct Authority {
    /// The reader.
    pub principal: Principal,
    /// The feed that the reader sees.
    pub feed: Feed,
    /// The epoch of the data at the beginning.
    pub epoch: Epoch,
    /// The expiry of the access token.
    pub expires: Timestamp,
}

/// Why no further stream is opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Full {
    /// The user has the maximum number of streams.
    User,
    /// The client address has the maximum number of streams of boards and guest accounts.
    Address,
    /// This server has the maximum number of streams, or is stopping.
    Server,
}

/// Why this server ended a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndReason {
    /// The reader did not keep up.
    Slow,
    /// The access token expired, or the reader lost the permission.
    Unauthorized,
    /// The client closed its connection.
    Abandoned,
    /// The server stops.
    Stopping,
    /// Events could not be read for a while.
    Unavailable,
    /// A new primary lacks commits, after their events were sent.
    Reset,
}

impl EndReason {
    /// The name in metrics.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::Unauthorized => "unauthorized",
            Self::Abandoned => "abandoned",
            Self::Stopping => "stopping",
            Self::Unavailable => "unavailable",
            Self::Reset => "reset",
        }
    }
}

/// The key of a stream on this server.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct StreamKey(u64);

/// The open streams.
#[derive(Clone)]
pub struct EventHub(Arc<Hub>);

struct Hub {
    max_streams: usize,
    streams: Mutex<Streams>,
    /// Notified when the first stream becomes live.
    followed: Notify,
}

#[derive(Default)]
struct Streams {
    is_closed: bool,
    last_key: u64,
    open: HashMap<StreamKey, OpenStream>,
    watchers: BoardWatchers,
    /// Of both kinds.
    addresses: AddressStreams,
    /// Streams that this server ended, and that their clients have not read to the end.
    ended: HashMap<StreamKey, EndedStream>,
    by_user: HashMap<UserId, HashSet<StreamKey>>,
    of_all: HashSet<StreamKey>,
    /// When all streams were last searched for closed connections.
    abandoned_sought_at: Option<Instant>,
    /// The number of live streams.
    following: usize,
    /// The position that the live streams have reached.
    position: Position,
}

/// The connection of a stream's client.
pub trait ClientConnection: Send + Sync {
    /// Whether the client has closed the connection, which only the next write would notice, or sends more after the
    /// request than the server buffers.
    fn is_abandoned(&self) -> bool;
    /// Closes the connection, even with unread data.
    fn cut(&self);
}

/// A connection that could not be watched counts as open.
impl<C: ClientConnection> ClientConnection for Option<C> {
    fn is_abandoned(&self) -> bool {
        self.as_ref().is_some_and(ClientConnection::is_abandoned)
    }

    fn cut(&self) {
        if let Some(connection) = self {
            connection.cut();
        }
    }
}

struct OpenStream {
    authority: Authority,
    follows: bool,
    /// `None` once the reader did not keep up; the stream delivers its buffered events, and ends.
    events: Option<mpsc::Sender<Arc<Event>>>,
    connection: Arc<dyn ClientConnection>,
    revoked: Arc<AtomicBool>,
}

struct EndedStream {
    connection: Arc<dyn ClientConnection>,
    at: Instant,
}

impl EventHub {
    /// Creates a hub without streams, for at most this many.
    #[must_use]
    pub fn new(max_streams: usize) -> Self {
        Self(Arc::new(Hub { max_streams, streams: Mutex::default(), followed: Notify::new() }))
    }

    /// Admits a stream, which gets no events until [`Subscription::follow`]. That of a guest account counts for the
    /// client address.
    ///
    /// # Errors
    /// [`Full`].
    pub fn open(
        &self,
        authority: Authority,
        network: Option<ClientNetwork>,
        connection: Arc<dyn ClientConnection>,
    ) -> Result<Subscription, Full> {
        let Self(hub) = self;
        let principal = authority.principal;
        let mut guard = hub.lock();
        let streams = &mut *guard;
        streams.make_room(&principal, network, hub.max_streams)?;
        let key = streams.next_key();
        streams.by_user.entry(principal.user).or_default().insert(key);
        if principal.is_guest_account() {
            streams.addresses.add(key, network);
        }
        if authority.feed == Feed::All {
            streams.of_all.insert(key);
        }
        let (events, received) = mpsc::channel(BUFFER);
        let revoked = Arc::<AtomicBool>::default();
        let stream = OpenStream {
            authority,
            follows: false,
            events: Some(events),
            connection,
            revoked: Arc::clone(&revoked),
        };
        streams.open.insert(key, stream);
        streams.measure();
        drop(guard);
        Ok(Subscription { hub: Arc::clone(hub), key, events: received, revoked })
    }

    /// Whether a further stream of this principal would be admitted.
    ///
    /// # Errors
    /// [`Full`].
    pub fn ensure_room(&self, principal: &Principal, network: Option<ClientNetwork>) -> Result<(), Full> {
        let Self(hub) = self;
        hub.lock().make_room(principal, network, hub.max_streams)
    }

    /// Waits for a live stream, and returns the position that the live streams have reached.
    pub async fn due(&self) -> Position {
        let Self(hub) = self;
        loop {
            {
                let streams = hub.lock();
                if streams.following > 0 {
                    return streams.position;
                }
            }
            hub.followed.notified().await;
        }
    }

    /// Delivers the events in (`after`, `complete_to`] to the streams of the involved users. They are discarded if the
    /// streams that needed them have ended.
    pub fn deliver(&self, after: Position, events: Vec<Event>, complete_to: Position) {
        let Self(hub) = self;
        let mut streams = hub.lock();
        if streams.following == 0 || streams.position != after {
            return;
        }
        for event in events.into_iter().map(Arc::new) {
            streams.deliver(&event);
        }
        streams.position = complete_to;
    }

    /// Ends the streams without a valid authority.
    pub fn end_unauthorized(&self, is_valid: impl Fn(&Authority) -> bool) {
        let Self(hub) = self;
        let mut streams = hub.lock();
        let invalid: Vec<StreamKey> = streams
            .open
            .iter()
            .filter(|(_, stream)| !is_valid(&stream.authority))
            .map(|(key, _)| *key)
            .collect();
        for key in invalid {
            streams.end(key, EndReason::Unauthorized);
        }
    }

    /// Ends the streams of clients that have closed their connections.
    pub fn end_abandoned(&self) {
        let Self(hub) = self;
        // Checks the connections without the lock, which would delay events.
        let connections = hub.lock().connections();
        let is_abandoned = |(_, connection): &(_, Arc<dyn ClientConnection>)| connection.is_abandoned();
        let abandoned: Vec<_> = connections.into_iter().filter(is_abandoned).collect();
        let mut streams = hub.lock();
        for (key, _) in abandoned {
            streams.end(key, EndReason::Abandoned);
        }
    }

    /// Cuts the connections of clients that have not read the end of their streams in time.
    pub fn cut_unread_ends(&self) {
        let Self(hub) = self;
        hub.lock().ended.retain(|_, stream| {
            let is_overdue = stream.at.elapsed() >= END_READ_WITHIN;
            if is_overdue {
                stream.connection.cut();
            }
            !is_overdue
        });
    }

    /// Ends every stream.
    pub fn end_all(&self, reason: EndReason) {
        let Self(hub) = self;
        hub.lock().end_all(reason);
    }

    /// Ends every stream and admits no more.
    pub fn close(&self) {
        let Self(hub) = self;
        let mut streams = hub.lock();
        streams.is_closed = true;
        streams.end_all(EndReason::Stopping);
    }
}

impl Hub {
    fn lock(&self) -> MutexGuard<'_, Streams> {
        self.streams.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Streams {
    fn next_key(&mut self) -> StreamKey {
        self.last_key = self.last_key.wrapping_add(1);
        StreamKey(self.last_key)
    }

    /// The number of open streams of both kinds.
    fn len(&self) -> usize {
        self.open.len().saturating_add(self.watchers.len())
    }

    fn measure(&self) {
        metrics::event_streams(self.len());
    }

    /// The connections of the clients of all streams.
    fn connections(&self) -> Vec<(StreamKey, Arc<dyn ClientConnection>)> {
        let of_users = self.open.iter().map(|(key, stream)| (*key, &stream.connection));
        of_users.chain(self.watchers.connections()).map(|(key, of)| (key, Arc::clone(of))).collect()
    }

    /// Counts a stream that is live from now on, and returns whether it is the first one.
    fn begin_to_follow(&mut self, after: Position) -> bool {
        let is_first = self.following == 0;
        self.following = self.following.saturating_add(1);
        if is_first {
            self.position = after;
        }
        is_first
    }

    fn stop_following(&mut self) {
        self.following = self.following.saturating_sub(1);
    }

    fn has_room(
        &self,
        principal: &Principal,
        network: Option<ClientNetwork>,
        max_streams: usize,
    ) -> Result<(), Full> {
        if self.is_closed || self.len() >= max_streams {
            return Err(Full::Server);
        }
        let of_user = self.by_user.get(&principal.user).map_or(0, HashSet::len);
        if of_user >= PER_USER {
            return Err(Full::User);
        }
        let is_free = !principal.is_guest_account() || self.addresses.has_room(network);
        if is_free { Ok(()) } else { Err(Full::Address) }
    }

    fn make_room(
        &mut self,
        principal: &Principal,
        network: Option<ClientNetwork>,
        max_streams: usize,
    ) -> Result<(), Full> {
        let Err(full) = self.has_room(principal, network, max_streams) else { return Ok(()) };
        match full {
            Full::User => self.end_abandoned_by(principal.user),
            Full::Address => self.end_abandoned_at(network),
            Full::Server => self.end_all_abandoned(),
        }
        self.has_room(principal, network, max_streams)
    }

    /// Frees the places of closed connections of this user.
    fn end_abandoned_by(&mut self, user: UserId) {
        let of_user: Vec<StreamKey> = self.by_user.get(&user).into_iter().flatten().copied().collect();
        for key in of_user {
            if self.open.get(&key).is_some_and(|stream| stream.connection.is_abandoned()) {
                self.end(key, EndReason::Abandoned);
            }
        }
    }

    /// Frees the places of closed connections at this address, at most once a second.
    fn end_abandoned_at(&mut self, network: Option<ClientNetwork>) {
        let connection = |key: StreamKey| {
            let of_user = self.open.get(&key).map(|stream| &stream.connection);
            let connection = of_user.or_else(|| self.watchers.connection(key))?;
            Some((key, Arc::clone(connection)))
        };
        self.end_abandoned_of(self.addresses.of(network).filter_map(connection).collect());
    }

    /// Frees the places of all closed connections, at most once a second.
    fn end_all_abandoned(&mut self) {
        self.end_abandoned_of(self.connections());
    }

    /// Frees the places of the closed ones of these connections, at most once a second.
    fn end_abandoned_of(&mut self, connections: Vec<(StreamKey, Arc<dyn ClientConnection>)>) {
        let is_recent = |at: &Instant| at.elapsed() < ABANDONED_SOUGHT_EVERY;
        if self.abandoned_sought_at.as_ref().is_some_and(is_recent) {
            return;
        }
        self.abandoned_sought_at = Some(Instant::now());
        for (key, connection) in connections {
            if connection.is_abandoned() {
                self.end(key, EndReason::Abandoned);
            }
        }
    }

    fn deliver(&mut self, event: &Arc<Event>) {
        self.watchers.wake(event);
        let audience = event.audience();
        let concerned = [audience.owner, audience.dj].into_iter().flatten();
        let own = concerned.filter_map(|user| self.by_user.get(&user)).flatten();
        let keys: HashSet<StreamKey> = own.chain(&self.of_all).copied().collect();
        for key in keys {
            let Some(stream) = self.open.get_mut(&key).filter(|stream| stream.follows) else { continue };
            let sent = stream.events.as_ref().map(|events| events.try_send(Arc::clone(event)));
            // The stream has no gap so far; its reader can resume there.
            if !matches!(sent, Some(Ok(()))) {
                (stream.events, stream.follows) = (None, false);
                self.stop_following();
                metrics::event_stream_ended(EndReason::Slow.name());
            }
        }
    }

    fn end_all(&mut self, reason: EndReason) {
        let of_users: Vec<StreamKey> = self.open.keys().copied().collect();
        for key in of_users.into_iter().chain(self.watchers.keys()) {
            self.end(key, reason);
        }
    }

    fn end(&mut self, key: StreamKey, reason: EndReason) {
        let of_user = self.remove(key).map(|stream| {
            stream.revoked.store(true, Ordering::Release);
            stream.connection
        });
        if let Some(connection) = of_user.or_else(|| self.end_watcher(key)) {
            metrics::event_stream_ended(reason.name());
            if reason == EndReason::Abandoned {
                connection.cut();
            } else {
                self.ended.insert(key, EndedStream { connection, at: Instant::now() });
            }
        }
    }

    fn remove(&mut self, key: StreamKey) -> Option<OpenStream> {
        let stream = self.open.remove(&key)?;
        self.of_all.remove(&key);
        self.addresses.remove(key);
        let user = stream.authority.principal.user;
        if let Some(of_user) = self.by_user.get_mut(&user) {
            of_user.remove(&key);
            if of_user.is_empty() {
                self.by_user.remove(&user);
            }
        }
        if stream.follows {
            self.stop_following();
        }
        self.measure();
        Some(stream)
    }
}

#[cfg(test)]
mod tests;
