//! Suspensions and the last operator: sessions end in the same change as the suspension, and an active
//! operator remains.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{OperationMetadata, Plan, Rejection, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{Applied, BeginOutcome, Erased, ExchangeOutcome, Store};
use cuepoint_domain::privacy::ErasureRefusal;
use cuepoint_domain::user::session::Session;
use cuepoint_domain::user::{Role, UserStatusChange};

use crate::harness::confirmed_erasure::erase_at;
use crate::harness::scenario::{Scenario, at, at_once, line};
use crate::subjects::sessions::{alive, end, exchange, hash, log_in, new_session, refresh, successor};

promises! { ($) suspensions as suspensions_promises {
    a_suspension_ends_all_sessions_of_the_user,
    logins_and_refreshes_concurrent_with_a_suspension_leave_no_live_session,
    a_login_beyond_the_session_limit_ends_the_least_recently_used_session,
    the_last_active_operator_cannot_be_removed,
    one_operator_remains_active_if_several_demote_or_suspend_each_other,
    one_operator_remains_active_if_several_are_erased_or_demoted_concurrently,
}}

fn change(scenario: &Scenario, by: UserId, user: UserId, change: UserStatusChange, seconds: i64) -> Plan {
    let metadata = OperationMetadata { reason: Some(line("a reason")), ..scenario.by(by, at(seconds)) };
    plans::change_user_status(metadata, user, change)
}

/// A fixture with this many operators.
async fn with_operators(store: Arc<dyn Store>, many: usize) -> (Scenario, Vec<UserId>) {
    let scenario = Scenario::new(store);
    let mut operators = Vec::new();
    for _ in 0..many {
        operators.push(scenario.operator().await);
    }
    (scenario, operators)
}

/// The number of active operators among these users.
async fn active(scenario: &Scenario, people: &[UserId]) -> usize {
    let mut active = 0;
    for user in people {
        active += usize::from(scenario.user(*user).await.is_active_operator());
    }
    active
}

/// Applies plans concurrently, and returns which were applied; each of the others must have been refused
/// because of the last operator.
async fn race(scenario: &Scenario, plans: Vec<Plan>) -> Vec<bool> {
    let tasks = plans.into_iter().map(|plan| {
        let scenario = scenario.clone();
        async move { scenario.apply(plan).await }
    });
    let answers = at_once(tasks).await.into_iter();
    let judged = answers.map(|answer| match answer {
        Ok(Applied::Fresh(_)) => true,
        Err(Rejection::LastOperator) => false,
        other => panic!("{other:?}"),
    });
    judged.collect()
}

/// A suspension ends every session, once, and no new one begins until the user is restored.
pub async fn a_suspension_ends_all_sessions_of_the_user(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let (user, other, operator) = (scenario.guest(0).await, scenario.guest(0).await, scenario.guest(0).await);
    for number in 1..4 {
        log_in(&store, user, number, at(0)).await;
    }
    let theirs = log_in(&store, other, 50, at(0)).await.id;
    let suspend = change(&scenario, operator, user, UserStatusChange::Suspend, 5);
    scenario.fresh(suspend.clone()).await;
    assert_eq!(alive(&store, user, at(5)).await, []);
    assert_eq!(alive(&store, other, at(5)).await, [theirs]);
    let revoked = store.revoked_since(at(5)).await.unwrap();
    assert_eq!(revoked.sessions.len(), 3, "as of the moment of the change");
    for token in 1..4 {
        assert_eq!(exchange(&store, token, token + 10).await, ExchangeOutcome::Refused, "token {token}");
    }
    let password = store.credentials_of(user).await.unwrap().unwrap().password;
    let late = new_session(&store, user, at(6)).await;
    assert_eq!(store.begin(&late, refresh(60), &password).await.unwrap(), BeginOutcome::Suspended);
    assert_eq!(store.owner(refresh(60)).await.unwrap(), None);

    scenario.change_status(operator, user, UserStatusChange::Restore, at(7)).await;
    assert_eq!(alive(&store, user, at(7)).await, []);
    assert_eq!(exchange(&store, 1, 11).await, ExchangeOutcome::Refused);
    let anew = log_in(&store, user, 61, at(8)).await.id;
    // The repeated plan gets its receipt, and does not suspend again.
    assert!(matches!(scenario.apply(suspend).await, Ok(Applied::Replayed(_))));
    assert_eq!(alive(&store, user, at(9)).await, [anew]);
}

/// No login or refresh concurrent with a suspension leaves a live session.
pub async fn logins_and_refreshes_concurrent_with_a_suspension_leave_no_live_session(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let operator = scenario.guest(0).await;
    for round in 0..20_u8 {
        let user = scenario.guest(0).await;
        log_in(&store, user, round, at(0)).await;
        let password = store.credentials_of(user).await.unwrap().unwrap().password;
        let (late, suspend) = (
            new_session(&store, user, at(1)).await,
            change(&scenario, operator, user, UserStatusChange::Suspend, 1),
        );
        let tasks = (0..3_u8).map(|what| {
            let (scenario, store) = (scenario.clone(), Arc::clone(&store));
            let (late, suspend, password) = (late.clone(), suspend.clone(), password.clone());
            async move {
                match what {
                    0 => drop(scenario.fresh(suspend).await),
                    1 => drop(store.begin(&late, refresh(100 + round), &password).await.unwrap()),
                    _ => drop(exchange(&store, round, 200 + round).await),
                }
            }
        });
        at_once(tasks).await;
        assert_eq!(alive(&store, user, at(2)).await, []);
        scenario.change_status(operator, user, UserStatusChange::Restore, at(3)).await;
        assert_eq!(alive(&store, user, at(3)).await, []);
        for token in [round, 100 + round, 200 + round] {
            assert_eq!(exchange(&store, token, 40).await, ExchangeOutcome::Refused, "token {token}");
        }
    }
}

/// The number of a user's live sessions is bounded: the least recently used ones end.
pub async fn a_login_beyond_the_session_limit_ends_the_least_recently_used_session(store: Arc<dyn Store>) {
    let scenario = Scenario::new(Arc::clone(&store));
    let (user, other) = (scenario.guest(0).await, scenario.guest(0).await);
    let theirs = log_in(&store, other, 250, at(0)).await.id;
    let (mut begun, mut seconds) = (Vec::new(), 0);
    for number in 0..u8::try_from(Session::MAX_LIVE).unwrap() {
        begun.push(log_in(&store, user, number, at(seconds)).await.id);
        seconds += 1;
    }
    assert_eq!(alive(&store, user, at(seconds)).await.len(), Session::MAX_LIVE);
    // The first one is used once more, so that the second is the least recently used.
    store.exchange(&hash(0), &successor(200), None, end(), at(seconds)).await.unwrap();
    let newest = log_in(&store, user, 201, at(seconds + 1)).await.id;
    let left = alive(&store, user, at(seconds + 2)).await;
    assert_eq!((left.len(), left.contains(&newest)), (Session::MAX_LIVE, true));
    assert!(left.contains(&begun[0]) && !left.contains(&begun[1]));
    assert_eq!(exchange(&store, 1, 202).await, ExchangeOutcome::Refused);
    assert_eq!(alive(&store, other, at(seconds)).await, [theirs]);
}

/// The last active operator cannot be demoted, suspended or erased, even if suspended operators exist.
pub async fn the_last_active_operator_cannot_be_removed(store: Arc<dyn Store>) {
    let (scenario, operators) = with_operators(store, 3).await;
    let (guest, last) = (scenario.guest(0).await, operators[0]);
    scenario.change_status(last, operators[1], UserStatusChange::Suspend, at(1)).await;
    assert_eq!(erase_at(&*scenario.store, operators[2], at(2), at(2)).await, Erased::Done);
    let before = scenario.user(last).await;
    for to in [
        UserStatusChange::Suspend,
        UserStatusChange::Role(Role::Auditor),
        UserStatusChange::Role(Role::Member),
    ] {
        let refused = scenario.apply(change(&scenario, guest, last, to, 3)).await;
        assert_eq!(refused, Err(Rejection::LastOperator), "{to:?}");
    }
    let refused = erase_at(&*scenario.store, last, at(3), at(3)).await;
    assert_eq!(refused, Erased::Refused(ErasureRefusal::LastOperator));
    assert_eq!(scenario.user(last).await, before);
    // The suspended operator is not an active one, and can lose the role.
    scenario.change_status(last, operators[1], UserStatusChange::Role(Role::Member), at(4)).await;
    scenario.change_status(last, guest, UserStatusChange::Role(Role::Operator), at(5)).await;
    scenario.change_status(guest, last, UserStatusChange::Suspend, at(6)).await;
    assert_eq!(active(&scenario, &[last, guest]).await, 1);
}

/// Of two operators who dismiss each other concurrently, by demotion or suspension, one succeeds; of more, at
/// least one remains.
///
/// Attack API5: leaving the service without an operator.
pub async fn one_operator_remains_active_if_several_demote_or_suspend_each_other(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    for round in 0..12 {
        let operators = renewed(&scenario, 2 + round % 2).await;
        let ways = [UserStatusChange::Suspend, UserStatusChange::Role(Role::Member)];
        let plans = (0..operators.len()).map(|number| {
            let (by, whom) = (operators[number], operators[(number + 1) % operators.len()]);
            change(&scenario, by, whom, ways[(number + round) % 2], 10)
        });
        let done = race(&scenario, plans.collect()).await;
        assert_eq!(done.iter().filter(|done| **done).count(), operators.len() - 1, "{done:?}");
        assert_eq!(active(&scenario, &operators).await, 1);
    }
}

/// Replaces all operators with this many new ones.
async fn renewed(scenario: &Scenario, many: usize) -> Vec<UserId> {
    let mut operators = Vec::new();
    for _ in 0..many {
        operators.push(scenario.operator().await);
    }
    let everybody = scenario.store.people(None, PageRequest::new(1, 100)).await.unwrap();
    for user in everybody.rows {
        if user.is_active_operator() && !operators.contains(&user.id) {
            scenario.change_status(operators[0], user.id, UserStatusChange::Role(Role::Member), at(0)).await;
        }
    }
    operators
}

/// When an operator is erased while another demotes them or erases themselves too, one operator remains.
pub async fn one_operator_remains_active_if_several_are_erased_or_demoted_concurrently(
    store: Arc<dyn Store>,
) {
    let scenario = Scenario::new(store);
    for _ in 0..10 {
        let operators = renewed(&scenario, 3).await;
        let tasks = (0..3).map(|number| {
            let (scenario, operators) = (scenario.clone(), operators.clone());
            async move {
                match number {
                    0 | 1 => match erase_at(&*scenario.store, operators[number], at(20), at(20)).await {
                        Erased::Done => true,
                        Erased::Refused(ErasureRefusal::LastOperator) => false,
                        other => panic!("{other:?}"),
                    },
                    _ => {
                        let to = UserStatusChange::Role(Role::Auditor);
                        let plan = change(&scenario, operators[0], operators[2], to, 20);
                        matches!(scenario.apply(plan).await, Ok(Applied::Fresh(_)))
                    }
                }
            }
        });
        let left = at_once(tasks).await;
        assert_eq!(left.iter().filter(|left| **left).count(), 2, "{left:?}");
        assert_eq!(active(&scenario, &operators).await, 1);
    }
}
