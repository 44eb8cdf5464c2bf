//! Account statuses: changed by plans, and listed since a given time.

use std::collections::HashMap;
use std::sync::Arc;

use cuepoint_domain::account::{AccountStatusChange, Field, ProfileChange, Role, change_account_status};
use cuepoint_domain::authorization::AccountStatus;
use cuepoint_domain::ledger::Outcome;
use cuepoint_domain::ledger::plans;
use cuepoint_domain::ports::Store;

use crate::world::{World, at, at_once, line};

/// Each change matches the domain's decision, in its receipt and when read back.
pub async fn a_standing_reads_back_as_it_was_changed(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (dj, operator) = (world.dj(100).await, world.operator().await);
    let changes = [
        AccountStatusChange::Role(Role::Operator),
        AccountStatusChange::Suspend,
        AccountStatusChange::Suspend,
        AccountStatusChange::Restore,
        AccountStatusChange::Role(Role::Auditor),
        AccountStatusChange::Role(Role::Member),
    ];
    for (seconds, change) in (1..).zip(changes) {
        let expected = change_account_status(&world.user(dj).await, change, at(seconds));
        match world.stand(operator, dj, change, at(seconds)).await.outcome {
            Outcome::Profile(shown, _) => assert_eq!(shown, expected, "{change:?}"),
            other => panic!("no profile: {other:?}"),
        }
        assert_eq!(world.user(dj).await, expected, "{change:?}");
    }
}

/// A changed account status is listed from its change on, with its current value; a change to the same status
/// is not.
pub async fn standings_are_told_since_a_moment(store: Arc<dyn Store>) {
    let world = World::new(store);
    let operator = world.guest(0).await;
    let (ada, bob, cyd) = (world.guest(0).await, world.dj(100).await, world.guest(0).await);
    world.stand(operator, ada, AccountStatusChange::Role(Role::Auditor), at(10)).await;
    world.stand(operator, bob, AccountStatusChange::Suspend, at(20)).await;
    world.stand(operator, cyd, AccountStatusChange::Restore, at(30)).await;
    let told = async |since| world.store.revoked_since(at(since)).await.unwrap().statuses;
    let auditor = AccountStatus { role: Role::Auditor, suspended: false };
    let suspended = AccountStatus { role: Role::Member, suspended: true };
    assert_eq!(told(0).await, HashMap::from([(ada, auditor), (bob, suspended)]));
    assert_eq!(told(10).await, HashMap::from([(ada, auditor), (bob, suspended)]));
    assert_eq!(told(11).await, HashMap::from([(bob, suspended)]));
    world.stand(operator, bob, AccountStatusChange::Restore, at(40)).await;
    assert_eq!(told(30).await, HashMap::from([(bob, AccountStatus { suspended: false, ..suspended })]));
    assert_eq!(told(41).await, HashMap::new());
}

/// Concurrent changes of a profile by its owner and of the account status by an operator are both kept.
pub async fn a_profile_and_a_standing_lose_no_update(store: Arc<dyn Store>) {
    let world = World::new(store);
    let (user, operator) = (world.guest(0).await, world.operator().await);
    for round in 0..20 {
        let city = line(&format!("City {round}"));
        let role = if round % 2 == 0 { Role::Auditor } else { Role::Operator };
        let change = ProfileChange { city: Field::Set(Some(city.clone())), ..ProfileChange::default() };
        let both = [
            plans::change_profile(world.by(user, at(round)), user, change),
            plans::change_account_status(
                world.by(operator, at(round)),
                user,
                AccountStatusChange::Role(role),
            ),
        ];
        let tasks = both.map(|plan| {
            let world = world.clone();
            async move { world.fresh(plan).await }
        });
        at_once(tasks).await;
        let now = world.user(user).await;
        assert_eq!((now.city, now.role, now.standing_at), (Some(city), role, Some(at(round))));
    }
}
