//! Reports and large queues, which are computed in the turn of their DJ.

use std::collections::{BTreeMap, HashMap};

use futures_util::StreamExt as _;

use super::*;
use crate::application::queries::GigQueries;
use crate::entity_ref::EntityRef;
use crate::gig::Gig;
use crate::ids::{GigId, RatingId};
use crate::music_request::{RequestRating, RequestStatus, Stars, Voice};
use crate::operation::{PlanKind, PositionedOperation};
use crate::page::{PageRequest, Rows};
use crate::user::Rating;

/// Threads that note the DJ of each piece of work, and do it at once.
#[derive(Default)]
struct Turns(Mutex<Vec<UserId>>);

#[async_trait]
impl LongWork for Turns {
    async fn in_turn_of(&self, dj: UserId, work: Task) -> Result<(), LongWorkRefusal> {
        self.0.lock().unwrap().push(dj);
        work.await;
        Ok(())
    }
}

/// Threads that are busy.
struct BusyThreads;

#[async_trait]
impl LongWork for BusyThreads {
    async fn in_turn_of(&self, _: UserId, _: Task) -> Result<(), LongWorkRefusal> {
        Err(LongWorkRefusal::Busy)
    }
}

fn ended(number: i64) -> Gig {
    Gig { id: GigId::new(number).unwrap(), settled: true, ..gig_endings::gig(Some(now())) }
}

fn numbered(number: i64, gig: GigId, state: RequestState) -> MusicRequest {
    MusicRequest { id: RequestId::new(number).unwrap(), gig: Some(gig), state, ..request() }
}

fn played() -> RequestState {
    RequestState::Played { at: now(), commission: Money::ZERO }
}

/// The requests that a store has, all of each gig that is asked for.
type Stored = Arc<Mutex<Vec<MusicRequest>>>;

/// The rating by a guest of a request with the same number.
fn rated(gig: GigId, number: i64, stars: u8) -> (Voice, RequestRating) {
    let id = RatingId::of(RequestId::new(number).unwrap());
    let voice = Voice { guest: UserId::new(number).unwrap(), dj: UserId::new(2).unwrap(), gig: Some(gig) };
    (voice, RequestRating { id, stars: Stars::new(stars).unwrap(), rated_at: now() })
}

fn gigs(stored: &Stored, gigs_of_dj: Vec<Gig>) -> MockGigs {
    let mut gigs = MockGigs::new();
    let requests = stored.clone();
    gigs.expect_ids_in_gig().returning(move |_| {
        let requests = requests.lock().unwrap();
        let is_cancelled = |request: &MusicRequest| request.state.status() == RequestStatus::Cancelled;
        let (cancelled, kept): (Vec<_>, Vec<_>) = requests.iter().cloned().partition(is_cancelled);
        let ids = kept.iter().map(|request| request.id).collect();
        Ok(IdsInGig { ids, cancelled: u64::try_from(cancelled.len()).unwrap() })
    });
    let requests = stored.clone();
    gigs.expect_requests_of().returning(move |ids| {
        let requests = requests.lock().unwrap();
        Ok(requests.iter().filter(|request| ids.contains(&request.id)).cloned().collect())
    });
    let requests = stored.clone();
    gigs.expect_gig_requests().returning(move |_, which, _| {
        let requests = requests.lock().unwrap();
        let open = requests.iter().filter(|request| which.includes(request.state.status()));
        Ok(open.take(usize::try_from(which.most_with_gig()).unwrap()).cloned().collect())
    });
    gigs.expect_ratings_in_gig().returning(|gig| Ok(vec![rated(gig, 1, 4), rated(gig, 2, 5)]));
    gigs.expect_dedications().returning(|_| Ok(HashMap::new()));
    gigs.expect_gigs().returning(move |_, _| {
        Ok(Rows { total: u64::try_from(gigs_of_dj.len()).unwrap(), rows: gigs_of_dj.clone() })
    });
    gigs
}

/// The operations that a store has about its users, after the position 10.
type Later = Arc<Mutex<Vec<MusicRequest>>>;

fn operations(later: &Later) -> MockOperationLog {
    let later = later.clone();
    let mut operations = MockOperationLog::new();
    operations.expect_operations().returning(move |_, after, limit| {
        let position =
            |number: usize| Position::new(i64::try_from(number).unwrap().checked_add(11).unwrap()).unwrap();
        let later = later.lock().unwrap();
        let all = later.iter().enumerate().map(|(number, request)| PositionedOperation {
            position: position(number),
            kind: Some(PlanKind::MoveRequest),
            at: now(),
            receipt: StoredReceipt::Whole(Receipt {
                outcome: Outcome { entity: Entity::MusicRequest(request.clone()), balance: None },
                ..receipt()
            }),
        });
        let newest = Position::new(i64::try_from(later.len()).unwrap().checked_add(10).unwrap()).unwrap();
        let all = all.filter(|operation| operation.position > after);
        let most = usize::try_from(limit).unwrap();
        Ok(OperationPage { operations: all.take(most).collect(), newest, gap: None })
    });
    operations
}

/// The queries on these doubles. Each gig that is loaded is one of DJ 2 with its id.
fn queries(gigs: MockGigs, later: &Later, long_work: Arc<dyn LongWork>, is_ended: bool) -> GigQueries {
    let mut ledger = MockLedger::new();
    ledger.expect_entity().returning(move |reference| {
        let EntityRef::Gig(id) = reference else { return Ok(None) };
        let gig = if is_ended { ended(id.get()) } else { Gig { id, ..gig_endings::gig(None) } };
        Ok(Some(Entity::Gig(gig)))
    });
    let mut people = MockPeople::new();
    people.expect_profile().returning(|_| Ok(Some(dj(true))));
    people.expect_names().returning(|_| Ok(BTreeMap::new()));
    let mut tips = MockTips::new();
    tips.expect_tips_in_gig().returning(|_| Ok(Vec::new()));
    let long_work = Some(long_work);
    let operations = operations(later);
    let doubles = Doubles { gigs, ledger, people, tips, operations, long_work, ..Doubles::default() };
    GigQueries::new(doubles.env())
}

fn counted(queries: &GigQueries) -> (u64, u64) {
    let report = run(queries.report(&principal(2), ended(5).id)).unwrap().report;
    let of = |status| report.requests.get(&status).copied().unwrap_or(0);
    assert_eq!(report.rating, Rating { stars: 9, count: 2 });
    (of(RequestStatus::Played), of(RequestStatus::Refunded))
}

#[test]
fn a_report_of_an_ended_gig_is_computed_again_only_after_a_change_of_its_requests() {
    let gig = ended(5).id;
    let stored: Stored = Arc::new(Mutex::new(vec![numbered(1, gig, played()), numbered(2, gig, played())]));
    let (later, turns) = (Later::default(), Arc::new(Turns::default()));
    let queries = queries(gigs(&stored, Vec::new()), &later, turns.clone(), true);
    let turns = || turns.0.lock().unwrap().len();
    assert_eq!((counted(&queries), turns()), ((2, 0), 1));
    assert_eq!((counted(&queries), turns()), ((2, 0), 1), "it is kept");
    later.lock().unwrap().push(numbered(9, ended(6).id, played()));
    assert_eq!((counted(&queries), turns()), ((2, 0), 1), "another gig of the DJ goes on");
    let refunded = RequestState::Refunded { at: now(), commission: Money::ZERO };
    stored.lock().unwrap()[1].state = refunded;
    later.lock().unwrap().push(numbered(2, gig, refunded));
    assert_eq!((counted(&queries), turns()), ((1, 1), 2), "a refund");
    assert_eq!((counted(&queries), turns()), ((1, 1), 2));
    // After more operations than one read returns, a change could be among the others.
    later.lock().unwrap().extend((0..50).map(|number| numbered(100 + number, ended(6).id, played())));
    assert_eq!((counted(&queries), turns()), ((1, 1), 3));
}

#[test]
fn a_report_of_a_gig_with_open_requests_is_not_kept() {
    let gig = ended(5).id;
    let stored: Stored = Arc::new(Mutex::new(vec![numbered(1, gig, played())]));
    let turns = Arc::new(Turns::default());
    let queries = queries(gigs(&stored, Vec::new()), &Later::default(), turns.clone(), false);
    for _ in 0..2 {
        assert_eq!(counted(&queries), (1, 0));
    }
    assert_eq!(*turns.0.lock().unwrap(), [user(2), user(2)]);
}

#[test]
fn past_gigs_are_counted_in_one_turn_and_refused_while_others_have_theirs() {
    let stored: Stored = Arc::new(Mutex::new(vec![numbered(1, ended(5).id, played())]));
    let (turns, page) = (Arc::new(Turns::default()), PageRequest::new(1, 12));
    let past: Vec<Gig> = (1..=12).map(ended).collect();
    let read = queries(gigs(&stored, past.clone()), &Later::default(), turns.clone(), true);
    for _ in 0..2 {
        let reports = run(read.reports(&principal(2), page)).unwrap();
        assert!(reports.rows.iter().all(|reported| reported.report.guests == 1));
        assert_eq!(reports.rows.len(), 12);
    }
    assert_eq!(turns.0.lock().unwrap().len(), 1);
    let busy = queries(gigs(&stored, past), &Later::default(), Arc::new(BusyThreads), true);
    assert!(matches!(run(busy.reports(&principal(2), page)), Err(Failure::Busy)));
    assert!(matches!(run(busy.report(&principal(2), ended(5).id)), Err(Failure::Busy)));
    let file = run(busy.requests_in_parts(&principal(2), ended(5).id, |_| String::new()));
    assert!(matches!(file.map(drop), Err(Failure::Busy)));
}

#[test]
fn the_file_of_a_gig_is_written_in_parts_of_a_limited_size() {
    let gig = ended(5).id;
    let cancelled = RequestState::Cancelled { at: now() };
    let state = |number| if number == 3 { cancelled } else { played() };
    let requests = (1..=1_200).map(|number| numbered(number, gig, state(number))).collect();
    let turns = Arc::new(Turns::default());
    let queries =
        queries(gigs(&Arc::new(Mutex::new(requests)), Vec::new()), &Later::default(), turns.clone(), true);
    let write = |requests: &[MusicRequest]| requests.len().to_string();
    let (_, parts) = run(queries.requests_in_parts(&principal(2), gig, write)).unwrap();
    let parts: Vec<String> = run(parts.map(Result::unwrap).collect());
    assert_eq!(parts, ["500", "500", "199"], "without the cancelled one");
    assert_eq!(turns.0.lock().unwrap().len(), 3);
}

/// Attack API4: a DJ who plays thousands of free requests, so that each look at the queue keeps a web worker busy.
#[test]
fn a_queue_after_more_plays_than_an_evening_has_is_read_in_the_turn_of_its_dj() {
    let gig = gig_endings::gig(None).id;
    for (plays, turn) in [(1_298, false), (5_000, true)] {
        let pending = RequestState::Pending { answer_by: now().plus(Duration::hours(1)) };
        let mut requests = vec![numbered(1, gig, pending)];
        requests.extend((2..2 + plays).map(|number| numbered(number, gig, played())));
        let turns = Arc::new(Turns::default());
        let queries = queries(
            gigs(&Arc::new(Mutex::new(requests)), Vec::new()),
            &Later::default(),
            turns.clone(),
            false,
        );
        let queue = run(queries.queue(&principal(2), gig)).unwrap();
        assert_eq!((queue.totals.open, queue.totals.played), (1, u64::try_from(plays).unwrap()));
        let newest: Vec<i64> = queue.last_played.iter().map(|request| request.id.get()).collect();
        assert_eq!(newest, (2..2 + plays).rev().take(10).collect::<Vec<_>>());
        assert_eq!(queue.waiting[0].last_played, Some(now()), "all plays count");
        let expected = if turn { vec![user(2)] } else { Vec::new() };
        assert_eq!(*turns.0.lock().unwrap(), expected, "{plays} plays");
    }
}
