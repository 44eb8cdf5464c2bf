//! The rolling limits of withdrawals, counted exactly.

use std::sync::Arc;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::Rejection;
use cuepoint_domain::ports::Store;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::withdrawal::{Limit, Move, WithdrawalLimits, WithdrawalStatus};
use time::Duration;

use crate::world::{Refused, World, amount, at, at_once, balance, withdrawal_of};

fn limited(store: Arc<dyn Store>, per_24h: Option<i128>, per_30d: Option<i128>) -> World {
    let mut world = World::new(store);
    let limits = WithdrawalLimits {
        max_amount: None,
        max_per_24h: per_24h.map(amount),
        max_per_30d: per_30d.map(amount),
    };
    world.withdrawals.limits = limits;
    world
}

/// Whether a withdrawal is made, or else which window refuses it.
async fn admitted(world: &World, user: UserId, cents: i128, now: Timestamp) -> Result<(), Duration> {
    match world.withdraw(user, cents, now).await {
        Ok(_) => Ok(()),
        Err(Refused::Rejected(Rejection::LimitExceeded(Limit::Rolling(window)))) => Err(window.length),
        Err(other) => panic!("{other:?}"),
    }
}

/// The whole limit can be used, one cent more can not; what is 24 hours old to the microsecond counts no more.
pub async fn a_window_rolls_to_the_microsecond(store: Arc<dyn Store>) {
    let (day, month) = (Duration::hours(24), Duration::days(30));
    let world = limited(store, Some(1_000), Some(1_500));
    let guest = world.guest(10_000).await;
    assert_eq!(admitted(&world, guest, 1_000, at(0)).await, Ok(()));
    assert_eq!(admitted(&world, guest, 1, at(1)).await, Err(day));
    assert_eq!(admitted(&world, guest, 1, at(0).plus(day).minus(Duration::MICROSECOND)).await, Err(day));
    assert_eq!(admitted(&world, guest, 500, at(0).plus(day)).await, Ok(()));
    assert_eq!(admitted(&world, guest, 1, at(0).plus(day)).await, Err(month));
    assert_eq!(admitted(&world, guest, 1, at(0).plus(month).minus(Duration::MICROSECOND)).await, Err(month));
    assert_eq!(admitted(&world, guest, 1_000, at(0).plus(month)).await, Ok(()));
    assert_eq!(world.balance(guest).await, balance(7_500, 2_500));
}

/// Withdrawals that came to nothing give their part of the limit back; those that may still be paid do not.
pub async fn only_what_may_be_paid_counts(store: Arc<dyn Store>) {
    let world = limited(store, Some(1_000), None);
    let guest = world.guest(10_000).await;
    let operator = world.guest(0).await;
    let endings = [
        (vec![Move::Cancel { by: guest }], WithdrawalStatus::Cancelled),
        (vec![Move::Reject { by: operator }], WithdrawalStatus::Rejected),
        (vec![Move::Approve { by: None }, Move::Process, Move::Fail], WithdrawalStatus::Failed),
    ];
    for (moves, ending) in endings {
        let withdrawal = withdrawal_of(&world.withdraw(guest, 1_000, at(1)).await.unwrap());
        assert_eq!(admitted(&world, guest, 1, at(1)).await, Err(Duration::hours(24)));
        for next in moves {
            world.move_withdrawal(withdrawal.id, &next, at(2)).await.unwrap();
        }
        assert_eq!(world.stored_withdrawal(withdrawal.id).await.state.status(), ending);
    }
    let withdrawal = withdrawal_of(&world.withdraw(guest, 1_000, at(3)).await.unwrap());
    let txid = Some(crate::world::line("f00d"));
    for next in [Move::Approve { by: None }, Move::Process, Move::Review, Move::Complete { txid }] {
        world.move_withdrawal(withdrawal.id, &next, at(4)).await.unwrap();
        assert_eq!(admitted(&world, guest, 1, at(5)).await, Err(Duration::hours(24)));
    }
    let other = world.guest(1_000).await;
    assert_eq!(admitted(&world, other, 1_000, at(5)).await, Ok(()), "each person has a limit of their own");
}

/// Of 30 parallel withdrawals of 1.00 under a limit of 10.00 a day, ten are made.
pub async fn a_window_counts_exactly_under_concurrency(store: Arc<dyn Store>) {
    let world = limited(store, Some(1_000), Some(100_000));
    let guest = world.guest(10_000).await;
    let tasks = (0..30).map(|second| {
        let world = world.clone();
        async move { admitted(&world, guest, 100, at(second)).await }
    });
    let answers = at_once(tasks).await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 10);
    assert!(answers.iter().flat_map(|answer| answer.err()).all(|window| window == Duration::hours(24)));
    assert_eq!(world.balance(guest).await, balance(9_000, 1_000));
    world.audit().await;
}
