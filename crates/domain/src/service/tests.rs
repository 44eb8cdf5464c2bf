//! The loops around the rules, on doubles of the ports.

mod accounts;
mod operators;
mod passwords;
mod people;
mod personal_data;
mod proofs;
mod registrations;
mod sessions;

use std::sync::Arc;

use futures_util::FutureExt;
use mockall::predicate::eq;
use time::Duration;

use super::desk::Desk;
use super::expiry::Expiry;
use super::journal::Journal;
use super::*;
use crate::access::Caller;
use crate::address::{AddressPolicy, DestinationRefusal};
use crate::ids::{OperationId, RequestId, SessionId, UserId, WithdrawalId};
use crate::ledger::{IdempotencyKey, KeyRecord, Outcome, Plan, PostingRules, Rejection, StoredReceipt};
use crate::money::{Amount, BasisPoints, Money};
use crate::music_request::{MusicRequest, NewRequest, RequestState, RequestStatus};
use crate::people::{ArtistType, DjProfile, Role, User};
use crate::ports::{
    Applied, ApplyError, MockBlocks, MockClock, MockIds, MockLedger, MockMusicRequests, MockPeople,
    MockSecurityLog, MockWithdrawals, Profile, Unavailable,
};
use crate::security_log::{EventKind, SecurityEvent};
use crate::session::Visitor;
use crate::text::{Email, Line, MusicUrl};
use crate::timestamp::Timestamp;
use crate::withdrawal::NewWithdrawal;

const NOW: i64 = 1_000_000_000;

/// What a use case comes to on doubles, which all answer at once.
fn run<T>(future: impl Future<Output = T>) -> T {
    future.now_or_never().expect("doubles answer at once")
}

fn user(number: i64) -> UserId {
    UserId::new(number).unwrap()
}

/// Who calls: 1 is a guest, 2 a DJ, 3 an operator.
const fn caller(number: i64) -> Caller {
    Caller {
        user: UserId::new(number).unwrap(),
        role: if number == 3 { Role::Operator } else { Role::Member },
        is_dj: number == 2,
        session: SessionId::new(1).unwrap(),
    }
}

/// A command of this caller, without a key.
const fn command(number: i64) -> Command {
    Command { caller: caller(number), visitor: Visitor { address: None, agent: None }, key: None }
}

fn now() -> Timestamp {
    Timestamp::from_unix_micros(NOW)
}

fn terms() -> RequestTerms {
    RequestTerms {
        pending_for: Duration::minutes(15),
        accepted_for: Duration::minutes(60),
        commission: BasisPoints::default(),
        most_open_per_dj: None,
    }
}

/// A request of guest 1 to DJ 2, made at `now`.
fn request() -> MusicRequest {
    MusicRequest {
        id: RequestId::new(7).unwrap(),
        requester: user(1),
        dj: user(2),
        song_title: Line::new("Blue Monday").unwrap(),
        artist_name: Line::new("New Order").unwrap(),
        artist_type: ArtistType::Popular,
        music_url: MusicUrl::new("https://example.com/blue-monday").unwrap(),
        fee: Money::from_minor(500),
        state: RequestState::Pending { answer_by: now().plus(Duration::minutes(15)) },
        created_at: now(),
    }
}

fn dj(online: bool) -> Profile {
    let (name, email) = (Line::new("Dee").unwrap(), Email::new("dee@example.com").unwrap());
    let mut dj = User::registered(user(2), name, email, None, true, now());
    dj.dj = Some(DjProfile { online, fee_popular_song: Money::from_minor(500), ..DjProfile::default() });
    Profile { user: dj, balance: crate::ledger::Balance::default() }
}

fn wish() -> NewRequest {
    let MusicRequest { dj, song_title, artist_name, artist_type, music_url, .. } = request();
    NewRequest { dj, song_title, artist_name, artist_type, music_url, fee: None }
}

fn receipt() -> Receipt {
    let (operation, rules) = (OperationId(9), PostingRules::IncomePaysOwed);
    Receipt { operation, at: now(), rules, outcome: Outcome::Request(request()) }
}

fn key(body: &[u8]) -> IdempotencyKey {
    IdempotencyKey { scope: KeyScope::of(user(1), "POST", "/x", "k"), fingerprint: Fingerprint::of(body) }
}

/// A journal on this log, at `now`.
fn journal(log: MockSecurityLog) -> Journal {
    let mut clock = MockClock::new();
    clock.expect_now().return_const(now());
    Journal::new(Arc::new(log), Arc::new(clock))
}

/// A log that cannot be written to, in which this is noted all the same.
fn log_away(noted: EventKind) -> MockSecurityLog {
    let mut log = MockSecurityLog::new();
    let right = move |event: &SecurityEvent| event.kind == noted;
    log.expect_append().withf(right).once().returning(|_| Err(Unavailable::new("the log is away")));
    log
}

fn desk(ledger: MockLedger) -> Desk {
    let mut clock = MockClock::new();
    clock.expect_now().return_const(now());
    let mut ids = MockIds::new();
    ids.expect_operation().returning(|| OperationId(42));
    ids.expect_next_withdrawal().returning(|| Ok(WithdrawalId::new(8).unwrap()));
    ids.expect_next_request().returning(|| Ok(RequestId::new(7).unwrap()));
    Desk { ledger: Arc::new(ledger), ids: Arc::new(ids), clock: Arc::new(clock) }
}

fn requests(ledger: MockLedger, kept: MockMusicRequests, people: MockPeople) -> Requests {
    let desk = desk(ledger);
    let kept: Arc<dyn crate::ports::MusicRequests> = Arc::new(kept);
    let expiry = Expiry { desk: desk.clone(), requests: kept.clone(), terms: terms() };
    let mut blocks = MockBlocks::new();
    blocks.expect_is_blocked().returning(|_, guest| Ok(guest == user(4)));
    let (people, blocks) = (Arc::new(people), Arc::new(blocks));
    Requests { desk, requests: kept, people, blocks, expiry, terms: terms() }
}

fn rejected<T>(rejection: Rejection) -> Result<T, ApplyError> {
    Err(ApplyError::Rejected(rejection))
}

fn broke<T>() -> Result<T, ApplyError> {
    rejected(Rejection::InsufficientFunds { available: Money::ZERO })
}

fn people_with(online: bool) -> MockPeople {
    let mut people = MockPeople::new();
    people.expect_profile().with(eq(user(2))).returning(move |_| Ok(Some(dj(online))));
    people
}

const UNKEYED: Command = command(2);

#[test]
fn a_move_that_meets_a_newer_state_is_decided_again_as_the_same_operation() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    let same = |plan: &Plan| plan.origin().operation == OperationId(42);
    ledger.expect_apply().withf(same).once().in_sequence(&mut turn).returning(|_| rejected(Rejection::Stale));
    ledger
        .expect_apply()
        .withf(same)
        .once()
        .in_sequence(&mut turn)
        .returning(|_| Ok(Applied::Fresh(receipt())));
    let mut kept = MockMusicRequests::new();
    kept.expect_request().once().returning(|_| Ok(Some(request())));
    let answered =
        run(requests(ledger, kept, MockPeople::new()).answer(&UNKEYED, request(), DjAnswer::Accept));
    assert_eq!(answered.unwrap(), Applied::Fresh(receipt()));
}

#[test]
fn a_state_that_never_rests_is_a_conflict_after_three_attempts() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().times(3).returning(|_| rejected(Rejection::Stale));
    let mut kept = MockMusicRequests::new();
    kept.expect_request().returning(|_| Ok(Some(request())));
    let answered = run(requests(ledger, kept, MockPeople::new()).answer(&UNKEYED, request(), DjAnswer::Play));
    assert!(matches!(answered, Err(MoveRequestError::Obstacle(Obstacle::Conflict))), "{answered:?}");
}

#[test]
fn a_move_decided_again_can_be_refused_by_what_happened_meanwhile() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().once().returning(|_| rejected(Rejection::Stale));
    let mut kept = MockMusicRequests::new();
    let cancelled = MusicRequest { state: RequestState::Cancelled { at: now() }, ..request() };
    kept.expect_request().once().returning(move |_| Ok(Some(cancelled.clone())));
    let answered =
        run(requests(ledger, kept, MockPeople::new()).answer(&UNKEYED, request(), DjAnswer::Accept));
    let Err(MoveRequestError::InvalidTransition { current, allowed }) = answered else {
        panic!("{answered:?}")
    };
    assert_eq!((current, allowed), (RequestStatus::Cancelled, vec![]));
}

#[test]
fn short_of_funds_the_own_overdue_fees_come_back_first() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    let kind = |wanted: &'static str| move |plan: &Plan| plan.kind().name() == wanted;
    ledger.expect_apply().withf(kind("open_request")).once().in_sequence(&mut turn).returning(|_| broke());
    ledger
        .expect_apply()
        .withf(kind("move_request"))
        .once()
        .in_sequence(&mut turn)
        .returning(|_| Ok(Applied::Fresh(receipt())));
    ledger
        .expect_apply()
        .withf(kind("open_request"))
        .once()
        .in_sequence(&mut turn)
        .returning(|_| Ok(Applied::Fresh(receipt())));
    let mut kept = MockMusicRequests::new();
    let overdue = MusicRequest { state: RequestState::Pending { answer_by: now() }, ..request() };
    kept.expect_overdue()
        .withf(|which| which.requester == Some(user(1)))
        .returning(move |_| Ok(vec![overdue.clone()]));
    let command = command(1);
    assert!(run(requests(ledger, kept, people_with(true)).open(&command, wish())).is_ok());
}

#[test]
fn short_of_funds_is_refused_once_nothing_more_comes_back() {
    let mut ledger = MockLedger::new();
    ledger.expect_apply().times(2).returning(|_| broke());
    let mut kept = MockMusicRequests::new();
    kept.expect_overdue().once().returning(|_| Ok(vec![]));
    let command = command(1);
    let opened = run(requests(ledger, kept, people_with(true)).open(&command, wish()));
    assert!(matches!(opened, Err(OpenRequestError::InsufficientFunds)), "{opened:?}");
}

/// What a keyed request to an offline DJ is answered, when the ledger knows this of its key.
fn refused_with(known: Option<KeyRecord>) -> Result<Applied, OpenRequestError> {
    let mut ledger = MockLedger::new();
    ledger.expect_find_key().once().returning(move |_| Ok(known.clone()));
    let command = Command { key: Some(key(b"{}")), ..command(1) };
    run(requests(ledger, MockMusicRequests::new(), people_with(false)).open(&command, wish()))
}

#[test]
fn a_refusal_gives_way_to_the_answer_of_its_twin() {
    let record = |body: &[u8], at| KeyRecord { key: key(body), receipt: StoredReceipt::Whole(receipt()), at };
    assert!(matches!(refused_with(None), Err(OpenRequestError::DjOffline)));
    assert_eq!(refused_with(Some(record(b"{}", now()))).unwrap(), Applied::Replayed(receipt()));
    let other = refused_with(Some(record(b"other", now())));
    assert!(matches!(other, Err(OpenRequestError::Obstacle(Obstacle::KeyReused))), "{other:?}");
    let old = now().minus(KeyRecord::KEPT);
    assert!(matches!(refused_with(Some(record(b"other", old))), Err(OpenRequestError::DjOffline)));
}

#[test]
fn a_refused_destination_gives_way_to_the_answer_of_its_twin() {
    let open = |known: Option<KeyRecord>| {
        let mut ledger = MockLedger::new();
        ledger.expect_find_key().once().returning(move |_| Ok(known.clone()));
        let desk = desk(ledger);
        let kept: Arc<dyn crate::ports::MusicRequests> = Arc::new(MockMusicRequests::new());
        let expiry = Expiry { desk: desk.clone(), requests: kept, terms: terms() };
        let terms = WithdrawalTerms { address_policy: AddressPolicy::Strict, ..WithdrawalTerms::default() };
        let withdrawals = Withdrawals { desk, withdrawals: Arc::new(MockWithdrawals::new()), expiry, terms };
        let line = |text| Line::new(text).unwrap();
        let new = NewWithdrawal {
            amount: Amount::new(Money::from_minor(500)).unwrap(),
            wallet_address: line("somewhere"),
            currency: line("BTC"),
            network: line("bitcoin"),
        };
        run(withdrawals.open(&Command { key: Some(key(b"{}")), ..command(1) }, new))
    };
    let refused = open(None);
    let Err(OpenWithdrawalError::Destination(refusal)) = refused else { panic!("{refused:?}") };
    assert_eq!(refusal, DestinationRefusal::Currency);
    let record = KeyRecord { key: key(b"{}"), receipt: StoredReceipt::Whole(receipt()), at: now() };
    assert_eq!(open(Some(record)).unwrap(), Applied::Replayed(receipt()));
}

#[test]
fn a_stranger_learns_nothing_and_the_requester_may_not_answer() {
    let mut kept = MockMusicRequests::new();
    kept.expect_request().returning(|id| Ok((id == request().id).then(request)));
    let requests = requests(MockLedger::new(), kept, MockPeople::new());
    let as_dj = |caller: Caller, id| run(requests.addressed(&caller, RequestId::new(id).unwrap()));
    assert!(as_dj(caller(2), 7).is_ok());
    assert!(matches!(as_dj(caller(1), 7), Err(FindError::Denied)));
    assert!(matches!(as_dj(caller(3), 7), Err(FindError::NotFound)));
    assert!(matches!(as_dj(caller(2), 8), Err(FindError::NotFound)));
}

#[test]
fn a_sweep_goes_on_past_what_others_settled() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    ledger.expect_apply().once().in_sequence(&mut turn).returning(|_| rejected(Rejection::Stale));
    ledger.expect_apply().once().in_sequence(&mut turn).returning(|_| Ok(Applied::Fresh(receipt())));
    let mut kept = MockMusicRequests::new();
    let overdue = MusicRequest { state: RequestState::Pending { answer_by: now() }, ..request() };
    kept.expect_overdue().once().returning(move |_| Ok(vec![overdue.clone(), overdue.clone()]));
    assert_eq!(run(requests(ledger, kept, MockPeople::new()).sweep()).unwrap(), 1);
}

#[test]
fn a_sweep_leaves_nobody_waiting_behind_one_that_cannot_be_settled() {
    let mut ledger = MockLedger::new();
    let mut turn = mockall::Sequence::new();
    ledger
        .expect_apply()
        .once()
        .in_sequence(&mut turn)
        .returning(|_| rejected(Rejection::Broken("a cent is gone")));
    ledger.expect_apply().once().in_sequence(&mut turn).returning(|_| Ok(Applied::Fresh(receipt())));
    let mut kept = MockMusicRequests::new();
    let overdue = MusicRequest { state: RequestState::Pending { answer_by: now() }, ..request() };
    kept.expect_overdue().once().returning(move |_| Ok(vec![overdue.clone(), overdue.clone()]));
    let swept = run(requests(ledger, kept, MockPeople::new()).sweep());
    assert!(matches!(swept, Err(Obstacle::Broken("a cent is gone"))), "{swept:?}");
}

#[test]
fn a_blocked_guest_is_refused_before_the_price_is_told() {
    let command = command(4);
    let cheap = NewRequest { fee: Some(Money::ZERO), ..wish() };
    let opened =
        run(requests(MockLedger::new(), MockMusicRequests::new(), people_with(true)).open(&command, cheap));
    assert!(matches!(opened, Err(OpenRequestError::Blocked)), "{opened:?}");
}
