//! Concurrency: every race has one outcome, and every cent is accounted for.

use std::sync::Arc;

use cuepoint_domain::ids::RequestId;
use cuepoint_domain::music_request::{Move, MoveRefusal, RequestStatus};
use cuepoint_domain::operation::{Actor, OperationMetadata, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, Store};
use cuepoint_domain::user::{ArtistType, DjChange, Field, ProfileChange};
use cuepoint_domain::withdrawal::{self, WithdrawalStatus};

use crate::harness::races::{fresh, one_of_sixteen_is_applied, race};
use crate::harness::scenario::{Refused, Scenario, at, at_once, balance, key, line, money, withdrawal_of};
use crate::subjects::ledger::entries;

promises! { ($) concurrency as concurrency_promises {
    concurrent_withdrawals_spend_each_cent_once,
    concurrent_requests_and_withdrawals_spend_each_cent_once,
    an_operation_submitted_concurrently_is_applied_once,
    an_idempotency_key_sent_concurrently_runs_its_command_once,
    an_idempotency_key_sent_with_many_bodies_is_bound_to_one_of_them,
    only_one_of_many_concurrent_plans_decided_on_the_same_state_is_applied,
    concurrent_answers_settle_a_request_only_once,
    concurrent_cancellations_release_the_money_once,
    concurrent_refunds_return_the_fee_once,
    a_withdrawal_cannot_be_both_cancelled_and_approved_concurrently,
    a_withdrawal_cannot_be_both_completed_and_failed_concurrently,
    djs_who_play_each_others_requests_concurrently_do_not_deadlock,
    concurrent_profile_changes_and_played_songs_lose_no_update,
}}

/// Of 50 parallel withdrawals of 10.00 from a wallet of 200.00, twenty succeed and thirty are refused for
/// insufficient funds.
///
/// Attack API6: spending the same money in parallel withdrawals.
pub async fn concurrent_withdrawals_spend_each_cent_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(20_000).await;
    let answers = at_once((0..50).map(|_| {
        let scenario = scenario.clone();
        async move { scenario.withdraw(guest, 1_000, at(1)).await }
    }))
    .await;
    let broke = Refused::Rejected(Rejection::InsufficientFunds { available: money(0) });
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 20);
    assert_eq!(answers.iter().filter(|answer| answer.as_ref() == Err(&broke)).count(), 30);
    assert_eq!(scenario.balance(guest).await, balance(0, 20_000));
    assert_eq!(scenario.withdrawals_of(guest, PageRequest::new(1, 100)).await.total, 20);
    scenario.audit().await;
}

/// Requests and withdrawals race for the last 1.00 of a wallet: one succeeds, and all others are refused for
/// insufficient funds.
///
/// Attack API6: spending the same money by a request and a withdrawal.
pub async fn concurrent_requests_and_withdrawals_spend_each_cent_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(100).await, scenario.dj(100).await);
    let by = || scenario.by(guest, at(1));
    let mut plans = Vec::new();
    for _ in 0..10 {
        plans.push(scenario.request_plan(by(), guest, dj, ArtistType::Popular, None).await.unwrap());
        plans.push(scenario.withdrawal_plan(by(), guest, 100).await.unwrap());
    }
    let answers = race(&scenario, plans).await;
    let broke = Err(Rejection::InsufficientFunds { available: money(0) });
    assert_eq!(fresh(&answers), 1);
    assert_eq!(answers.iter().filter(|answer| **answer == broke).count(), 19);
    assert_eq!(scenario.balance(guest).await, balance(0, 100));
    scenario.audit().await;
}

/// An operation submitted 200 times in parallel is applied once, and all 200 submissions get its receipt.
pub async fn an_operation_submitted_concurrently_is_applied_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(20_000).await;
    let plan = scenario.withdrawal_plan(scenario.by(guest, at(1)), guest, 1_000).await.unwrap();
    let answers = race(&scenario, vec![plan; 200]).await;
    assert_eq!(fresh(&answers), 1);
    let first = answers[0].as_ref().unwrap().receipt();
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().receipt() == first));
    assert_eq!(scenario.balance(guest).await, balance(19_000, 1_000));
    assert_eq!(entries(&scenario, guest).await.len(), 2);
}

/// A key sent 50 times in parallel under different operation ids runs its command once.
pub async fn an_idempotency_key_sent_concurrently_runs_its_command_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(20_000).await;
    let mut plans = Vec::new();
    for _ in 0..50 {
        let metadata = OperationMetadata { key: Some(key(guest, "k", "body")), ..scenario.by(guest, at(1)) };
        plans.push(scenario.withdrawal_plan(metadata, guest, 1_000).await.unwrap());
    }
    let answers = race(&scenario, plans).await;
    assert_eq!(fresh(&answers), 1);
    let first = answers[0].as_ref().unwrap().receipt();
    assert!(answers.iter().all(|answer| answer.as_ref().unwrap().receipt() == first));
    assert_eq!(scenario.balance(guest).await, balance(19_000, 1_000));
    assert_eq!(scenario.withdrawals_of(guest, PageRequest::new(1, 15)).await.total, 1);
}

/// A key sent in parallel with different bodies is bound to one of them; all others are refused.
pub async fn an_idempotency_key_sent_with_many_bodies_is_bound_to_one_of_them(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let guest = scenario.guest(20_000).await;
    let mut plans = Vec::new();
    for cents in 1..=20_i128 {
        let metadata =
            OperationMetadata { key: Some(key(guest, "k", &cents.to_string())), ..scenario.by(guest, at(1)) };
        plans.push(scenario.withdrawal_plan(metadata, guest, cents).await.unwrap());
    }
    let answers = race(&scenario, plans).await;
    assert_eq!(fresh(&answers), 1);
    assert_eq!(answers.iter().filter(|answer| **answer == Err(Rejection::KeyReused)).count(), 19);
    assert_eq!(entries(&scenario, guest).await.len(), 2);
}

/// Of accept, reject, play and cancel decided on the same pending request, exactly one is applied.
pub async fn only_one_of_many_concurrent_plans_decided_on_the_same_state_is_applied(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(20_000).await, scenario.dj(100).await);
    for _ in 0..20 {
        let request = scenario.request(guest, dj, at(1)).await;
        let moves = [Move::Accept, Move::Reject, Move::Play, Move::Cancel, Move::Cancel];
        let plans = moves
            .map(|to| plans::move_request(scenario.by(dj, at(2)), &request, to, &scenario.requests).unwrap());
        let answers = race(&scenario, plans).await;
        assert_eq!(fresh(&answers), 1);
        assert_eq!(answers.iter().filter(|answer| **answer == Err(Rejection::Stale)).count(), 4);
    }
    scenario.audit().await;
}

/// Accept, reject and play race on one request, each decided again after a conflict: one settlement.
///
/// Attack API6: answering a request twice.
pub async fn concurrent_answers_settle_a_request_only_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let (guest, dj) = (scenario.guest(20_000).await, scenario.dj(100).await);
    let mut played = 0;
    for _ in 0..20 {
        let request = scenario.request(guest, dj, at(1)).await;
        let before = scenario.balance(guest).await;
        let moves = [Move::Accept, Move::Reject, Move::Play, Move::Cancel, Move::Play];
        let answers = at_once(moves.map(|to| {
            let scenario = scenario.clone();
            async move { scenario.move_request(request.id, to, at(2)).await }
        }))
        .await;
        let refused_well = |answer: &Result<Applied, Refused>| match answer {
            Ok(_) => true,
            Err(Refused::Request(MoveRefusal::InvalidTransition { .. })) => true,
            Err(_) => false,
        };
        assert!(answers.iter().all(refused_well), "{answers:?}");
        played += i64::from(settled(&scenario, request.id, before.available).await);
    }
    assert_eq!(scenario.user(dj).await.dj.unwrap().played, played);
    assert_eq!(scenario.balance(dj).await, balance(i128::from(played) * 90, 0));
    scenario.audit().await;
}

/// Whether the request was played, rather than rejected or cancelled; in all cases its fee of 1.00 is no longer held.
async fn settled(scenario: &Scenario, request: RequestId, available: cuepoint_domain::money::Money) -> bool {
    let stored = scenario.stored_request(request).await;
    let status = stored.state.status();
    let played = status == RequestStatus::Played;
    let back = if played { 0 } else { 100 };
    let guest = scenario.balance(stored.requester).await;
    assert!(played || matches!(status, RequestStatus::Rejected | RequestStatus::Cancelled), "{stored:?}");
    assert_eq!(guest, balance(available.minor() + back, 0));
    played
}

/// Two racing cancels release the money once, and both report the request as cancelled.
pub async fn concurrent_cancellations_release_the_money_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(100).await, scenario.dj(100).await);
    for _ in 0..20 {
        let request = scenario.request(guest, dj, at(1)).await;
        let answers = at_once((0..2).map(|_| {
            let scenario = scenario.clone();
            async move { scenario.move_request(request.id, Move::Cancel, at(2)).await }
        }))
        .await;
        for answer in answers {
            let seen = crate::harness::scenario::request_of(answer.unwrap().receipt());
            assert_eq!(seen.state.status(), RequestStatus::Cancelled);
        }
        assert_eq!(scenario.balance(guest).await, balance(100, 0));
    }
    scenario.audit().await;
}

/// Racing refunds of a played request return its fee once.
///
/// Attack API6: refunding a request twice.
pub async fn concurrent_refunds_return_the_fee_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let (guest, dj) = (scenario.guest(100).await, scenario.dj(100).await);
    let request = scenario.request(guest, dj, at(1)).await;
    scenario.move_request(request.id, Move::Play, at(2)).await.unwrap();
    let played = scenario.stored_request(request.id).await;
    let refund =
        || plans::move_request(scenario.by(dj, at(3)), &played, Move::Refund, &scenario.requests).unwrap();
    one_of_sixteen_is_applied(&scenario, refund).await;
    assert_eq!((scenario.balance(guest).await, scenario.balance(dj).await), (balance(100, 0), balance(0, 0)));
    assert_eq!((entries(&scenario, guest).await.len(), entries(&scenario, dj).await.len()), (4, 2));
    scenario.audit().await;
}

/// Owner and operator race on one withdrawal: it is either cancelled and released, or approved and held.
pub async fn a_withdrawal_cannot_be_both_cancelled_and_approved_concurrently(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, operator) = (scenario.guest(2_000).await, scenario.guest(0).await);
    let mut held = 0;
    for _ in 0..20 {
        let withdrawal = withdrawal_of(&scenario.withdraw(guest, 100, at(1)).await.unwrap());
        let moves =
            [withdrawal::Move::Cancel, withdrawal::Move::Approve { by: Some(operator), second_above: None }];
        let plans = moves.map(|to| {
            plans::move_withdrawal(scenario.metadata(Actor::System, at(2)), &withdrawal, to).unwrap()
        });
        let answers = race(&scenario, plans).await;
        assert_eq!(fresh(&answers), 1);
        let status = scenario.stored_withdrawal(withdrawal.id).await.state.status();
        let cancelled = status == WithdrawalStatus::Cancelled;
        assert!(cancelled || status == WithdrawalStatus::Approved);
        assert_eq!(answers[0].is_ok(), cancelled);
        held += if cancelled { 0 } else { 100 };
        assert_eq!(scenario.balance(guest).await, balance(2_000 - held, held));
    }
    scenario.audit().await;
}

/// Of completing and failing a withdrawal under review, one settles it: its money is paid out or released.
pub async fn a_withdrawal_cannot_be_both_completed_and_failed_concurrently(store: Arc<dyn Store>) {
    use withdrawal::Move::{Approve, Complete, Fail, Process, Review};
    let scenario = Scenario::new(store);
    let (guest, operator) = (scenario.guest(2_000).await, scenario.operator().await);
    let mut paid = 0;
    for _ in 0..20 {
        let made = withdrawal_of(&scenario.withdraw(guest, 100, at(1)).await.unwrap());
        for to in [Approve { by: Some(operator), second_above: None }, Process, Review] {
            scenario.move_withdrawal(made.id, &to, at(2)).await.unwrap();
        }
        let reviewed = scenario.stored_withdrawal(made.id).await;
        let plans = [Complete { txid: Some(line("f00d")) }, Fail].map(|to| {
            plans::move_withdrawal(scenario.metadata(Actor::System, at(3)), &reviewed, to).unwrap()
        });
        let answers = race(&scenario, plans).await;
        assert_eq!(fresh(&answers), 1);
        let status = scenario.stored_withdrawal(made.id).await.state.status();
        let completed = status == WithdrawalStatus::Completed;
        assert!(completed || status == WithdrawalStatus::Failed);
        assert_eq!(answers[0].is_ok(), completed);
        paid += if completed { 100 } else { 0 };
        assert_eq!(scenario.balance(guest).await, balance(2_000 - paid, 0));
    }
    scenario.audit().await;
}

/// Two DJs who play each other's requests concurrently never deadlock.
pub async fn djs_who_play_each_others_requests_concurrently_do_not_deadlock(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(500);
    let (one, two) = (scenario.dj(100).await, scenario.dj(100).await);
    let mut requests = Vec::new();
    for dj in [one, two] {
        scenario.fund(dj, 2_000).await;
    }
    for _ in 0..20 {
        requests.push(scenario.request(one, two, at(1)).await);
        requests.push(scenario.request(two, one, at(1)).await);
    }
    let answers = at_once(requests.into_iter().map(|request| {
        let scenario = scenario.clone();
        async move { scenario.move_request(request.id, Move::Play, at(2)).await }
    }))
    .await;
    assert!(answers.iter().all(Result::is_ok), "{answers:?}");
    for dj in [one, two] {
        assert_eq!(scenario.balance(dj).await, balance(1_900, 0));
        assert_eq!(scenario.user(dj).await.dj.unwrap().played, 20);
    }
    scenario.audit().await;
}

/// Concurrent changes of a profile and played songs do not overwrite each other.
pub async fn concurrent_profile_changes_and_played_songs_lose_no_update(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (guest, dj) = (scenario.guest(20_000).await, scenario.dj(100).await);
    let mut plans = Vec::new();
    for _ in 0..20 {
        let request = scenario.request(guest, dj, at(1)).await;
        plans.push(
            plans::move_request(scenario.by(dj, at(2)), &request, Move::Play, &scenario.requests).unwrap(),
        );
    }
    let one = |change| plans::change_profile(scenario.by(dj, at(2)), dj, change);
    let city = Field::Set(Some(line("Oslo")));
    plans.insert(5, one(ProfileChange { city, ..ProfileChange::default() }));
    let price = DjChange { fee_upcoming_artist: Field::Set(money(777)), ..DjChange::default() };
    plans.insert(15, one(ProfileChange { dj: price, ..ProfileChange::default() }));
    assert_eq!(fresh(&race(&scenario, plans).await), 22);

    let user = scenario.user(dj).await;
    assert_eq!(user.city, Some(line("Oslo")));
    let profile = user.dj.unwrap();
    assert_eq!((profile.played, profile.fee_upcoming_artist), (20, money(777)));
    assert_eq!(scenario.balance(dj).await, balance(2_000, 0));
}
