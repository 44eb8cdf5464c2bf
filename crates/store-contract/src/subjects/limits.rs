//! The rolling limits of withdrawals and the limit of open requests, counted exactly.

use std::sync::Arc;

use cuepoint_domain::gig::{Gig, GigDetails};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::music_request::{self, Addressee, QueueRefusal};
use cuepoint_domain::operation::{Rejection, plans};
use cuepoint_domain::ports::{GigRequests, Store};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{ArtistType, Standing};
use cuepoint_domain::withdrawal::{Limit, Move, WithdrawalLimits, WithdrawalStatus};
use time::Duration;

use crate::harness::scenario::{Refused, Scenario, amount, at, at_once, balance, request_of, withdrawal_of};
use crate::subjects::gigs::{opened, song};
use crate::subjects::guest_accounts::guest;

promises! { ($) limits as limits_promises {
    withdrawal_limit_windows_are_exact_to_the_microsecond,
    only_paid_or_payable_withdrawals_count_toward_the_limits,
    withdrawal_limits_are_exact_under_concurrency,
    open_requests_are_counted_per_guest_and_dj,
    open_requests_are_counted_exactly_under_concurrency,
    the_queue_of_a_gig_is_counted_exactly_under_concurrency,
    the_requests_of_a_gig_are_counted_exactly_under_concurrency,
}}

fn limited(store: Arc<dyn Store>, per_24h: Option<i128>, per_30d: Option<i128>) -> Scenario {
    let mut scenario = Scenario::new(store);
    let limits = WithdrawalLimits {
        max_amount: None,
        max_per_24h: per_24h.map(amount),
        max_per_30d: per_30d.map(amount),
    };
    scenario.withdrawals.limits = limits;
    scenario
}

/// Whether a withdrawal succeeds, or which window refuses it.
async fn admitted(scenario: &Scenario, user: UserId, cents: i128, now: Timestamp) -> Result<(), Duration> {
    match scenario.withdraw(user, cents, now).await {
        Ok(_) => Ok(()),
        Err(Refused::Rejected(Rejection::LimitExceeded(Limit::Rolling(window)))) => Err(window.length),
        Err(other) => panic!("{other:?}"),
    }
}

/// The whole limit can be used, and not a cent more; a withdrawal stops counting after 24 hours, to the
/// microsecond.
pub async fn withdrawal_limit_windows_are_exact_to_the_microsecond(store: Arc<dyn Store>) {
    let (day, month) = (Duration::hours(24), Duration::days(30));
    let scenario = limited(store, Some(1_000), Some(1_500));
    let guest = scenario.guest(10_000).await;
    assert_eq!(admitted(&scenario, guest, 1_000, at(0)).await, Ok(()));
    assert_eq!(admitted(&scenario, guest, 1, at(1)).await, Err(day));
    assert_eq!(admitted(&scenario, guest, 1, at(0).plus(day).minus(Duration::MICROSECOND)).await, Err(day));
    assert_eq!(admitted(&scenario, guest, 500, at(0).plus(day)).await, Ok(()));
    assert_eq!(admitted(&scenario, guest, 1, at(0).plus(day)).await, Err(month));
    assert_eq!(
        admitted(&scenario, guest, 1, at(0).plus(month).minus(Duration::MICROSECOND)).await,
        Err(month)
    );
    assert_eq!(admitted(&scenario, guest, 1_000, at(0).plus(month)).await, Ok(()));
    assert_eq!(scenario.balance(guest).await, balance(7_500, 2_500));
}

/// Withdrawals that ended without a payout release their part of the limit; those that may still be paid do
/// not.
pub async fn only_paid_or_payable_withdrawals_count_toward_the_limits(store: Arc<dyn Store>) {
    let scenario = limited(store, Some(1_000), None);
    let guest = scenario.guest(10_000).await;
    let operator = scenario.guest(0).await;
    let endings = [
        (vec![Move::Cancel], WithdrawalStatus::Cancelled),
        (vec![Move::Reject { by: operator }], WithdrawalStatus::Rejected),
        (
            vec![Move::Approve { by: None, second_above: None }, Move::Process, Move::Fail],
            WithdrawalStatus::Failed,
        ),
    ];
    for (moves, ending) in endings {
        let withdrawal = withdrawal_of(&scenario.withdraw(guest, 1_000, at(1)).await.unwrap());
        assert_eq!(admitted(&scenario, guest, 1, at(1)).await, Err(Duration::hours(24)));
        for next in moves {
            scenario.move_withdrawal(withdrawal.id, &next, at(2)).await.unwrap();
        }
        assert_eq!(scenario.stored_withdrawal(withdrawal.id).await.state.status(), ending);
    }
    let withdrawal = withdrawal_of(&scenario.withdraw(guest, 1_000, at(3)).await.unwrap());
    let txid = Some(crate::harness::scenario::line("f00d"));
    for next in
        [Move::Approve { by: None, second_above: None }, Move::Process, Move::Review, Move::Complete { txid }]
    {
        scenario.move_withdrawal(withdrawal.id, &next, at(4)).await.unwrap();
        assert_eq!(admitted(&scenario, guest, 1, at(5)).await, Err(Duration::hours(24)));
    }
    let other = scenario.guest(1_000).await;
    assert_eq!(admitted(&scenario, other, 1_000, at(5)).await, Ok(()), "each user has a separate limit");
}

/// Of 30 parallel withdrawals of 1.00 under a limit of 10.00 a day, ten succeed.
pub async fn withdrawal_limits_are_exact_under_concurrency(store: Arc<dyn Store>) {
    let scenario = limited(store, Some(1_000), Some(100_000));
    let guest = scenario.guest(10_000).await;
    let tasks = (0..30).map(|second| {
        let scenario = scenario.clone();
        async move { admitted(&scenario, guest, 100, at(second)).await }
    });
    let answers = at_once(tasks).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 10);
    assert!(answers.iter().flat_map(|answer| answer.err()).all(|window| window == Duration::hours(24)));
    assert_eq!(scenario.balance(guest).await, balance(9_000, 1_000));
    scenario.audit().await;
}

/// At the limit of open requests with one DJ, a further one is refused, but one to another DJ succeeds; a
/// request that was answered or has expired no longer counts.
pub async fn open_requests_are_counted_per_guest_and_dj(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_most_open(2);
    let (guest, bob) = (scenario.guest(10_000).await, scenario.guest(10_000).await);
    let (dj, other, free) = (scenario.dj(100).await, scenario.dj(100).await, scenario.dj(0).await);
    let open = async |guest, dj, seconds| {
        let metadata = scenario.by(guest, at(seconds));
        let plan = scenario.request_plan(metadata, guest, dj, ArtistType::Popular, None).await.unwrap();
        scenario.apply(plan).await
    };
    let full = Err(Rejection::TooManyOpen(2));
    let first = request_of(open(guest, dj, 0).await.unwrap().receipt());
    scenario.move_request(first.id, music_request::Move::Accept, at(0)).await.unwrap();
    let second = request_of(open(guest, dj, 1).await.unwrap().receipt());
    assert_eq!(open(guest, dj, 2).await, full);
    for (guest, dj) in [(guest, other), (bob, dj), (guest, free), (guest, free)] {
        assert!(open(guest, dj, 2).await.is_ok());
    }
    assert_eq!(open(guest, free, 2).await, full, "also where nothing is held");
    scenario.move_request(second.id, music_request::Move::Reject, at(3)).await.unwrap();
    assert!(open(guest, dj, 3).await.is_ok());
    assert_eq!(open(guest, dj, 4).await, full);
    assert_eq!(open(guest, dj, 902).await, full, "pending for 900 seconds");
    assert!(open(guest, dj, 903).await.is_ok(), "expired by the clock, though stored as pending");
    assert_eq!(open(guest, dj, 904).await, full);
    scenario.audit().await;
}

/// Of fifty concurrent requests of one guest to one DJ, exactly the limit succeeds.
pub async fn open_requests_are_counted_exactly_under_concurrency(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_most_open(3);
    let (guest, dj, other) = (scenario.guest(100_000).await, scenario.dj(100).await, scenario.dj(0).await);
    let mut plans = Vec::new();
    for number in 0..100 {
        let to = if number % 2 == 0 { dj } else { other };
        let metadata = scenario.by(guest, at(1));
        plans.push(scenario.request_plan(metadata, guest, to, ArtistType::Popular, None).await.unwrap());
    }
    let answers = at_once(plans.into_iter().map(|plan| {
        let scenario = scenario.clone();
        async move { scenario.apply(plan).await }
    }))
    .await;
    let full = Err(Rejection::TooManyOpen(3));
    for which in [0, 1] {
        let of_one: Vec<_> = answers.iter().skip(which).step_by(2).collect();
        assert_eq!(of_one.iter().filter(|answer| answer.is_ok()).count(), 3);
        assert_eq!(of_one.iter().filter(|answer| ***answer == full).count(), 47);
    }
    assert_eq!(scenario.balance(guest).await, balance(99_700, 300));
}

/// Of concurrent requests, exactly as many succeed as the queue has room for. Requests of guests get two thirds of it, and
/// requests of members the rest. An overdue request does not count.
pub async fn the_queue_of_a_gig_is_counted_exactly_under_concurrency(store: Arc<dyn Store>) {
    let mut scenario = Scenario::new(store);
    scenario.requests.most_open_per_gig = 9;
    let dj = scenario.dj(0).await;
    let gig = opened(&scenario, dj, 1).await;
    let gig = Gig { details: GigDetails { members_only: false, ..gig.details.clone() }, ..gig };
    let (mut guest_accounts, mut members) = (Vec::new(), Vec::new());
    for number in 0..12 {
        guest_accounts.push(guest(&scenario, number, at(0)).await.0.id);
        members.push(scenario.guest(100).await);
    }
    let (unknown, known) = (Standing::GuestAccount, Standing::Proven);
    let by_guest_accounts = asked_at_once(&scenario, &gig, &guest_accounts, unknown, 2).await;
    assert_eq!(by_guest_accounts.iter().filter(|answer| answer.is_ok()).count(), 6);
    all_refused_by(QueueRefusal::FullForGuests(6), &by_guest_accounts);
    let by_members = asked_at_once(&scenario, &gig, &members, known, 2).await;
    assert_eq!(by_members.iter().filter(|answer| answer.is_ok()).count(), 3);
    all_refused_by(QueueRefusal::Full(9), &by_members);
    let overdue = 2 + scenario.requests.gig_pending_for.whole_seconds();
    let later = asked_at_once(&scenario, &gig, &guest_accounts[..1], unknown, overdue).await;
    assert_eq!(later, [Ok(())]);
    scenario.audit().await;
}

/// Of concurrent requests, exactly as many succeed as the limit of the gig leaves, and rejected requests still count. The
/// last tenth is for requests that do not count as guests'.
///
/// Attack API4: ending an evening by as many requests as a gig can have.
pub async fn the_requests_of_a_gig_are_counted_exactly_under_concurrency(store: Arc<dyn Store>) {
    let mut scenario = Scenario::new(store);
    scenario.requests.most_made_per_gig = 20;
    let dj = scenario.dj(0).await;
    let gig = opened(&scenario, dj, 1).await;
    let mut users = Vec::new();
    for _ in 0..24 {
        users.push(scenario.guest(0).await);
    }
    let before = asked_at_once(&scenario, &gig, &users[..8], Standing::Unproven, 2).await;
    assert!(before.iter().all(Result::is_ok), "{before:?}");
    let open = scenario.store.gig_requests(&gig, GigRequests::OpenInGig, at(0)).await.unwrap();
    for request in &open[..4] {
        scenario.move_request(request.id, music_request::Move::Reject, at(3)).await.unwrap();
    }
    let by_guests = asked_at_once(&scenario, &gig, &users, Standing::Unproven, 4).await;
    assert_eq!(by_guests.iter().filter(|answer| answer.is_ok()).count(), 10);
    all_refused_by(QueueRefusal::TooManyMadeForGuests(18), &by_guests);
    let by_members = asked_at_once(&scenario, &gig, &users, Standing::Proven, 5).await;
    assert_eq!(by_members.iter().filter(|answer| answer.is_ok()).count(), 2);
    all_refused_by(QueueRefusal::TooManyMade(20), &by_members);
    scenario.audit().await;
}

/// Checks that every answer except the successes has this refusal.
fn all_refused_by(refusal: QueueRefusal, answers: &[Result<(), Rejection>]) {
    let refused =
        |answer: &Result<(), Rejection>| answer.is_ok() || *answer == Err(Rejection::NoRoom(refusal));
    assert!(answers.iter().all(refused), "{answers:?}");
}

/// The results of a request of each of these guests in a gig, all at once.
async fn asked_at_once(
    scenario: &Scenario,
    gig: &Gig,
    guests: &[UserId],
    standing: Standing,
    seconds: i64,
) -> Vec<Result<(), Rejection>> {
    let dj = scenario.user(gig.dj).await;
    let mut plans = Vec::new();
    for guest in guests {
        let id = scenario.ids.next_request().await.unwrap();
        let to = Addressee { gig: Some(gig.request_terms()), guest: standing, ..Addressee::of(Some(&dj)) };
        let metadata = scenario.by(*guest, at(seconds));
        let new = song(gig.dj, None);
        plans.push(plans::open_request(metadata, id, *guest, to, new, &scenario.requests).unwrap());
    }
    at_once(plans.into_iter().map(|plan| {
        let scenario = scenario.clone();
        async move { scenario.apply(plan).await.map(drop) }
    }))
    .await
}
