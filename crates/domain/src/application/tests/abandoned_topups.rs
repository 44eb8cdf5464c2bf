//! Failures of top-ups of erased users, on doubles of the ports.

use super::*;
use crate::application::jobs::AbandonedTopups;
use crate::operation::{Entity, Step};
use crate::topup::{Charge, TopupStatus, open};

/// The pending top-ups.
type Pending = Arc<Mutex<Vec<Topup>>>;

/// This number of pending top-ups of each user.
fn pending(owners: &[(i64, usize)]) -> Pending {
    let owners = owners.iter().flat_map(|(owner, count)| std::iter::repeat_n(*owner, *count));
    let topups = (1..).zip(owners).map(|(number, owner)| {
        let id = TopupId::new(number).unwrap();
        let amount = Amount::new(Money::from_minor(500)).unwrap();
        open(OperationId(1), id, user(owner), amount, Charge::Pending, now()).0
    });
    Arc::new(Mutex::new(topups.collect()))
}

/// Users 1 to 3 are erased, and the top-ups of user 1 cannot be read; the ledger fails top-ups.
fn doubles(pending: &Pending) -> Doubles {
    let mut doubles = Doubles::default();
    doubles
        .people
        .expect_pending_erasures()
        .returning(|after, _| Ok((1..=3).map(user).filter(|user| Some(*user) > after).collect()));
    let stored = pending.clone();
    doubles.topups.expect_pending_topups().returning(move |owner, limit| {
        if owner == user(1) {
            return Err(Unavailable::new("a row is unreadable"));
        }
        let stored = stored.lock().unwrap();
        let theirs = stored.iter().filter(|topup| topup.user == owner).cloned();
        Ok(theirs.take(usize::try_from(limit).unwrap()).collect())
    });
    let stored = pending.clone();
    doubles.ledger.expect_apply().returning(move |plan| {
        let Step::Move { before: Entity::Topup(before), after } = plan.step() else { panic!("{plan:?}") };
        let mut stored = stored.lock().unwrap();
        let count = stored.len();
        stored.retain(|topup| topup.id != before.id);
        assert_eq!(count.abs_diff(stored.len()), 1, "each fails once");
        // Another server was faster with every other one.
        if before.id.get() % 2 == 0 {
            return Err(ApplyError::Rejected(Rejection::Stale));
        }
        let failed = Topup { status: TopupStatus::Failed, ..before.clone() };
        assert_eq!(*after, Entity::Topup(Topup { updated_at: now(), ..failed.clone() }));
        let outcome = Outcome { entity: Entity::Topup(failed), balance: None };
        Ok(Applied::Fresh(Receipt { outcome, ..receipt() }))
    });
    doubles
}

/// Runs one turn of the job.
fn turn(pending: &Pending) -> Result<(), Failure> {
    let env = doubles(pending).env();
    run(AbandonedTopups { env: &env }.fail_all())
}

#[test]
fn one_unreadable_topup_does_not_keep_others_pending() {
    let pending = pending(&[(2, 150), (3, 1)]);
    let told = turn(&pending);
    assert!(matches!(told, Err(Failure::Unavailable(_))), "{told:?}");
    assert_eq!(*pending.lock().unwrap(), []);
}

#[test]
fn many_pending_topups_fail_over_several_turns_of_the_job() {
    let pending = pending(&[(2, 2_500), (3, 1)]);
    let mut left = Vec::new();
    while !pending.lock().unwrap().is_empty() {
        turn(&pending).unwrap_err();
        left.push(pending.lock().unwrap().len());
    }
    assert_eq!(left, [1_477, 453, 0]);
}
