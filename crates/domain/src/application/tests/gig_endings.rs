//! The job that ends gigs and releases the fees of their open requests.

use super::*;
use crate::application::executor::Effects;
use crate::application::jobs::GigEndings;
use crate::gig::{DjCode, Gig, GigDetails, GuestLimit, QueueOrder};
use crate::ids::GigId;
use crate::operation::{Actor, OperationMetadata, Step, plans};
use crate::text::GigTitle;

/// A gig of DJ 2 that was opened an hour ago.
pub(super) fn gig(ended_at: Option<Timestamp>) -> Gig {
    Gig {
        id: GigId::new(5).unwrap(),
        dj: user(2),
        code: DjCode::new("K7TW3M").unwrap(),
        details: GigDetails {
            title: GigTitle::new("Friday").unwrap(),
            venue: None,
            city: None,
            coordinates: None,
            message: None,
            queue_order: QueueOrder::Rounds,
            max_open_per_guest: GuestLimit::default(),
            members_only: false,
            asks_kind: false,
        },
        opened_at: now().minus(Duration::hours(1)),
        ended_at,
        settled: false,
    }
}

/// A store with these due and ended gigs, and these open requests of each.
fn gigs(due: Vec<Gig>, ended: Vec<Gig>, open: Vec<MusicRequest>) -> MockGigs {
    let mut gigs = MockGigs::new();
    let opened_by = now().minus(Duration::hours(12));
    gigs.expect_gigs_to_end()
        .with(eq(opened_by), eq(None), eq(100))
        .returning(move |_, _, _| Ok(due.clone()));
    gigs.expect_unsettled_gigs().with(eq(None), eq(100)).returning(move |_, _| Ok(ended.clone()));
    gigs.expect_gig_requests().returning(move |_, which, _| {
        assert_eq!(which, GigRequests::Open);
        Ok(open.clone())
    });
    gigs
}

/// What the ledger was asked to apply.
type Plans = Arc<Mutex<Vec<Plan>>>;

/// A ledger that notes each plan. Another server has always been faster.
fn ledger(plans: &Plans) -> MockLedger {
    let plans = plans.clone();
    let mut ledger = MockLedger::new();
    ledger.expect_apply().returning(move |plan| {
        plans.lock().unwrap().push(plan.clone());
        rejected(Rejection::Stale)
    });
    ledger
}

/// Runs the job, and returns what it asked the ledger to apply.
fn plans_of(gigs: MockGigs) -> Vec<Plan> {
    let plans = Plans::default();
    let env = Doubles { gigs, ledger: ledger(&plans), ..Doubles::default() }.env();
    assert_eq!(run(GigEndings { env }.run()).unwrap(), 0);
    std::mem::take(&mut *plans.lock().unwrap())
}

/// The state to which a plan moves a request.
fn moved_to(plan: &Plan) -> RequestState {
    match plan.step() {
        Step::Move { after: Entity::MusicRequest(request), .. } => request.state,
        step => panic!("{step:?}"),
    }
}

#[test]
fn a_due_gig_is_ended_by_the_service() {
    let plans = plans_of(gigs(vec![gig(None)], vec![], vec![]));
    let [end] = &plans[..] else { panic!("{plans:?}") };
    assert!(
        matches!(end.step(), Step::Move { after: Entity::Gig(ended), .. } if ended.ended_at == Some(now()))
    );
    assert_eq!(end.metadata().actor, Actor::System);
    assert!(Effects::of(end).is_empty(), "the job itself rejects the requests");
}

#[test]
fn the_end_of_a_gig_by_its_dj_has_the_release_of_its_fees_as_an_effect() {
    let by_dj = OperationMetadata::by(user(2), OperationId(1), now());
    let mut effects = Effects::default();
    effects.enqueue(Job::ReleaseGig(gig(None).id));
    assert_eq!(Effects::of(&plans::end_gig(by_dj, &gig(None))), effects);
}

#[test]
fn open_requests_of_an_ended_gig_are_rejected_and_overdue_ones_expire() {
    let pending = |answer_by| MusicRequest { state: RequestState::Pending { answer_by }, ..request() };
    let open = vec![pending(now().plus(Duration::seconds(1))), pending(now())];
    let plans = plans_of(gigs(vec![], vec![gig(Some(now()))], open));
    let states: Vec<RequestState> = plans.iter().map(moved_to).collect();
    assert!(
        matches!(states[..], [RequestState::Rejected { .. }, RequestState::Expired { .. }]),
        "{states:?}"
    );
    let reasons: Vec<_> =
        plans.iter().map(|plan| plan.metadata().reason.as_ref().map(Line::as_str)).collect();
    assert_eq!(reasons, [Some("gig_ended"), None]);
}

#[test]
fn a_gig_without_open_requests_is_settled_ten_minutes_after_its_end() {
    for (minutes_ago, settles) in [(9, 0), (10, 1)] {
        let ended = gig(Some(now().minus(Duration::minutes(minutes_ago))));
        let mut gigs = gigs(vec![], vec![ended], vec![]);
        gigs.expect_settle_gig().with(eq(gig(None).id)).times(settles).returning(|_| Ok(()));
        assert!(plans_of(gigs).is_empty());
    }
    let ended = gig(Some(now().minus(Duration::hours(1))));
    plans_of(gigs(vec![], vec![ended], vec![request()]));
}
