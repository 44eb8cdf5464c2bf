//! Delivery of events to streams, and their end.

use cuepoint_domain::event::EventType;
use cuepoint_domain::gig::{DjCode, GigRecord, GigStatus};
use cuepoint_domain::ids::{GigId, GigRecordId, OperationId, SessionId, TopupId};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::operation::{Entity, Outcome};
use cuepoint_domain::topup::{self, Charge};
use cuepoint_domain::user::Role;
use futures_util::FutureExt as _;

use super::*;

const ONE: i64 = 1;
const OTHER: i64 = 2;

fn authority(user: i64, feed: Feed) -> Authority {
    let (user, session) = (UserId::new(user).unwrap(), SessionId::new(1).unwrap());
    let principal = Principal { user, role: Role::Operator, is_dj: false, session };
    Authority { principal, feed, epoch: Epoch(0), expires: Timestamp::EPOCH }
}

/// A connection of a client that has closed it or not, and that this server has cut or not.
#[derive(Default)]
struct Connection {
    is_abandoned: bool,
    is_cut: AtomicBool,
}

impl ClientConnection for Connection {
    fn is_abandoned(&self) -> bool {
        self.is_abandoned
    }

    fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
    }
}

fn open(hub: &EventHub, user: i64, feed: Feed) -> Result<Subscription, Full> {
    hub.open(authority(user, feed), None, Arc::new(Connection::default()))
}

/// Opens a stream of a guest account at this address.
fn open_of_guest(hub: &EventHub, user: i64, address: [u8; 4]) -> Result<Subscription, Full> {
    open_of_guest_by(hub, user, address, Arc::new(Connection::default()))
}

fn open_of_guest_by(
    hub: &EventHub,
    user: i64,
    address: [u8; 4],
    connection: Arc<Connection>,
) -> Result<Subscription, Full> {
    let Authority { principal, .. } = authority(user, Feed::Own);
    let principal = Principal { role: Role::Guest, ..principal };
    let authority = Authority { principal, ..authority(user, Feed::Own) };
    hub.open(authority, Some(ClientNetwork::of(address.into())), connection)
}

fn position(number: i64) -> Position {
    Position::new(number).unwrap()
}

/// The event of a top-up of this user.
fn event(number: i64, user: i64) -> Event {
    let (id, user) = (TopupId::new(1).unwrap(), UserId::new(user).unwrap());
    let (amount, at) = (Amount::new(Money::from_minor(1)).unwrap(), Timestamp::EPOCH);
    let (topup, _) = topup::open(OperationId(1), id, user, amount, Charge::Pending, at);
    Event {
        position: position(number),
        id: OperationId(1),
        event_type: EventType::TopupCreated,
        created_at: at,
        outcome: Outcome { entity: Entity::Topup(topup), balance: None },
    }
}

/// The positions of the events that a stream has received; empty if it has ended.
async fn received(stream: &mut Subscription) -> Vec<i64> {
    let mut events = Vec::new();
    stream.receive(&mut events, 1_000).await;
    events.iter().map(|event| event.position.get()).collect()
}

#[tokio::test]
async fn each_stream_receives_the_events_of_its_feed_from_its_starting_position() {
    let hub = EventHub::new(10);
    let mut own = open(&hub, ONE, Feed::Own).unwrap();
    let mut all = open(&hub, OTHER, Feed::All).unwrap();
    assert_eq!(own.follow(position(5)), position(5), "the first one begins where it is");
    assert_eq!(hub.due().await, position(5));
    hub.deliver(position(5), vec![event(6, ONE), event(7, OTHER)], position(8));
    assert_eq!(all.follow(position(4)), position(8), "a later one reads what is missing");
    assert_eq!(hub.due().await, position(8));
    hub.deliver(position(8), vec![event(9, OTHER), event(10, ONE)], position(10));
    assert_eq!(received(&mut own).await, [6, 10]);
    assert_eq!(received(&mut all).await, [9, 10]);
}

#[tokio::test]
async fn an_overflowing_stream_ends_after_its_last_buffered_event() {
    let hub = EventHub::new(10);
    let (mut slow, mut other) = (open(&hub, ONE, Feed::Own).unwrap(), open(&hub, OTHER, Feed::Own).unwrap());
    slow.follow(Position::START);
    other.follow(Position::START);
    let last = i64::try_from(BUFFER).unwrap() + 1;
    let events = (1..=last).map(|number| event(number, ONE)).collect();
    hub.deliver(Position::START, events, position(last));
    hub.deliver(position(last), vec![event(last + 1, ONE), event(last + 2, OTHER)], position(last + 2));
    assert_eq!(received(&mut slow).await, (1..last).collect::<Vec<_>>());
    assert_eq!(received(&mut slow).await, [0_i64; 0], "the stream has ended");
    assert_eq!(received(&mut other).await, [last + 2]);
}

#[tokio::test]
async fn a_revoked_stream_does_not_deliver_its_buffered_events() {
    let hub = EventHub::new(10);
    let (mut revoked, mut other) =
        (open(&hub, ONE, Feed::Own).unwrap(), open(&hub, OTHER, Feed::All).unwrap());
    revoked.follow(Position::START);
    other.follow(Position::START);
    hub.deliver(Position::START, vec![event(1, ONE)], position(1));
    hub.end_unauthorized(|authority| authority.feed == Feed::All);
    let mut events = Vec::new();
    assert_eq!(revoked.receive(&mut events, 1).await, 0);
    assert!(revoked.is_revoked());
    assert_eq!(received(&mut other).await, [1]);
}

#[tokio::test]
async fn a_new_stream_receives_only_events_after_its_starting_position() {
    let hub = EventHub::new(10);
    let left = open(&hub, ONE, Feed::Own).unwrap();
    left.follow(position(3));
    drop(left);
    let mut later = open(&hub, ONE, Feed::Own).unwrap();
    assert_eq!(later.follow(position(5)), position(5));
    hub.deliver(position(3), vec![event(4, ONE), event(5, ONE)], position(5));
    hub.deliver(position(5), vec![event(6, ONE)], position(6));
    assert_eq!(received(&mut later).await, [6]);
}

#[test]
fn streams_are_limited_per_user_and_server_not_counting_disconnected_ones() {
    let hub = EventHub::new(8);
    let mut streams: Vec<_> = (0..PER_USER).map(|_| open(&hub, ONE, Feed::Own).unwrap()).collect();
    assert_eq!(open(&hub, ONE, Feed::Own).err(), Some(Full::User));
    streams.pop();
    let closed = Arc::new(Connection { is_abandoned: true, ..Connection::default() });
    streams.push(hub.open(authority(ONE, Feed::Own), None, closed).unwrap());
    streams.push(open(&hub, ONE, Feed::Own).unwrap());
    streams.push(open(&hub, OTHER, Feed::Own).unwrap());
    streams.push(open(&hub, OTHER, Feed::Own).unwrap());
    assert_eq!(open(&hub, OTHER, Feed::Own).err(), Some(Full::Server));
    hub.close();
    assert_eq!(open(&hub, OTHER, Feed::Own).err(), Some(Full::Server));
    assert!(streams.iter().all(Subscription::is_revoked));
}

#[tokio::test(start_paused = true)]
async fn clients_that_ignore_the_end_of_a_stream_are_disconnected() {
    let hub = EventHub::new(10);
    let connections: [Arc<Connection>; 3] = Default::default();
    let [of_open, of_read, of_unread] = &connections;
    let open = |feed, connection: &Arc<Connection>| {
        hub.open(authority(ONE, feed), None, Arc::<Connection>::clone(connection)).unwrap()
    };
    let (stays, read, unread) =
        (open(Feed::All, of_open), open(Feed::Own, of_read), open(Feed::Own, of_unread));
    hub.end_unauthorized(|authority| authority.feed == Feed::All);
    assert!(!stays.is_revoked() && read.is_revoked() && unread.is_revoked());
    drop(read);
    hub.cut_unread_ends();
    let cut = || connections.each_ref().map(|connection| connection.is_cut.load(Ordering::SeqCst));
    assert_eq!(cut(), [false; 3], "a client has time to read");
    tokio::time::advance(END_READ_WITHIN).await;
    hub.cut_unread_ends();
    assert_eq!(cut(), [false, false, true]);
}

fn watch(hub: &EventHub, dj: i64, address: [u8; 4]) -> Result<BoardWatch, Full> {
    watch_by(hub, dj, address, Arc::new(Connection::default()))
}

fn watch_by(
    hub: &EventHub,
    dj: i64,
    address: [u8; 4],
    connection: Arc<Connection>,
) -> Result<BoardWatch, Full> {
    let network = ClientNetwork::of(address.into());
    hub.watch(UserId::new(dj).unwrap(), Some(network), connection, Position::START)
}

/// The event of a gig of this DJ.
fn event_of_gig(number: i64, dj: i64) -> Event {
    let record = GigRecord {
        id: GigRecordId::of(GigId::new(1).unwrap()),
        dj: UserId::new(dj).unwrap(),
        code: DjCode::new("K7TW3M").unwrap(),
        status: GigStatus::Open,
    };
    let outcome = Outcome { entity: Entity::GigRecord(record), balance: None };
    Event { event_type: EventType::GigUpdated, outcome, ..event(number, dj) }
}

fn is_woken(watch: &BoardWatch) -> bool {
    watch.woken().now_or_never().is_some()
}

#[tokio::test]
async fn the_events_of_a_dj_wake_the_streams_of_the_dj_s_board() {
    let hub = EventHub::new(10);
    let watches = [ONE, OTHER].map(|dj| watch(&hub, dj, [192, 0, 2, 1]).unwrap());
    assert_eq!(hub.due().await, Position::START, "the events of all servers are read for them");
    let woken = || watches.each_ref().map(is_woken);
    assert_eq!(woken(), [true, true], "each looks again after its beginning");
    assert_eq!(woken(), [false, false]);
    hub.deliver(Position::START, vec![event_of_gig(1, OTHER), event(2, ONE)], position(2));
    assert_eq!(woken(), [false, true], "top-ups of a DJ change no board");
    hub.deliver(position(2), vec![event_of_gig(3, OTHER), event_of_gig(4, OTHER)], position(4));
    assert_eq!(woken(), [false, true]);
    assert_eq!(woken(), [false, false], "several events are one change");
}

#[test]
fn a_stopping_server_ends_its_board_streams() {
    let hub = EventHub::new(10);
    let board = watch(&hub, ONE, [192, 0, 2, 1]).unwrap();
    assert!(!board.is_ended() && is_woken(&board));
    hub.close();
    assert!(board.is_ended() && is_woken(&board) && board.ended().now_or_never().is_some());
    assert_eq!(watch(&hub, ONE, [192, 0, 2, 1]).err(), Some(Full::Server));
    drop(board);
    assert_eq!(hub.0.lock().following, 0);
}

#[test]
fn board_streams_are_limited_and_leave_room_for_events() {
    let hub = EventHub::new(10);
    let closed = Arc::new(Connection { is_abandoned: true, ..Connection::default() });
    let left = watch_by(&hub, ONE, [192, 0, 2, 1], closed).unwrap();
    let mut watches: Vec<_> = (1..8).map(|_| watch(&hub, ONE, [192, 0, 2, 1]).unwrap()).collect();
    assert!(!left.is_ended());
    watches.push(watch(&hub, ONE, [192, 0, 2, 2]).unwrap());
    assert!(left.is_ended(), "the place of a closed connection is free");
    assert_eq!(watch(&hub, ONE, [192, 0, 2, 2]).err(), Some(Full::Server));
    open(&hub, ONE, Feed::Own).unwrap();
    watches.pop();
    watch(&hub, ONE, [192, 0, 2, 2]).unwrap();
}

#[test]
fn an_address_has_at_most_1500_board_streams() {
    let hub = EventHub::new(10_000);
    let all: Vec<_> = (0..1_500).map(|_| watch(&hub, ONE, [192, 0, 2, 1]).unwrap()).collect();
    assert_eq!(watch(&hub, ONE, [192, 0, 2, 1]).err(), Some(Full::Address));
    watch(&hub, ONE, [192, 0, 2, 2]).unwrap();
    drop(all);
    watch(&hub, ONE, [192, 0, 2, 1]).unwrap();
}

/// Attack API4: many guest accounts that fill the server with streams.
#[test]
fn an_address_has_at_most_1500_streams_of_boards_and_guest_accounts() {
    let hub = EventHub::new(10_000);
    let closed = Arc::new(Connection { is_abandoned: true, ..Connection::default() });
    let left = open_of_guest_by(&hub, 1_000, [192, 0, 2, 1], closed).unwrap();
    let mut guests: Vec<_> =
        (1..1_000).map(|user| open_of_guest(&hub, user, [192, 0, 2, 1]).unwrap()).collect();
    let boards: Vec<_> = (0..500).map(|_| watch(&hub, ONE, [192, 0, 2, 1]).unwrap()).collect();
    guests.push(open_of_guest(&hub, 2_000, [192, 0, 2, 1]).unwrap());
    assert!(left.is_revoked(), "the place of a closed connection is free");
    assert_eq!(open_of_guest(&hub, 2_001, [192, 0, 2, 1]).err(), Some(Full::Address));
    assert_eq!(watch(&hub, ONE, [192, 0, 2, 1]).err(), Some(Full::Address));
    open_of_guest(&hub, 2_001, [192, 0, 2, 2]).unwrap();
    let network = Some(ClientNetwork::of([192, 0, 2, 1].into()));
    hub.open(authority(3_000, Feed::Own), network, Arc::new(Connection::default())).unwrap();
    drop((guests, boards));
    open_of_guest(&hub, 2_001, [192, 0, 2, 1]).unwrap();
    assert!(hub.0.lock().addresses.of(network).next().is_none());
}
