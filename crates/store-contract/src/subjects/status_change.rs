//! User statuses: changed by plans, and listed since a given time.

use std::collections::HashMap;
use std::sync::Arc;

use cuepoint_domain::authorization::UserStatus;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::operation::{Entity, plans};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::ports::{DjFilter, Store};
use cuepoint_domain::user::{Field, ProfileChange, Role, UserStatusChange, change_user_status};

use crate::harness::scenario::{Scenario, at, at_once, line};

promises! { ($) status_change as status_change_promises {
    status_changes_are_stored_as_the_domain_decides,
    users_whose_status_changed_at_or_after_a_time_are_listed,
    a_new_dj_is_listed_once_among_the_djs_and_among_the_changed_statuses,
    concurrent_profile_and_status_changes_lose_no_update,
}}

/// Each change matches the domain's decision, in its receipt and when read back.
pub async fn status_changes_are_stored_as_the_domain_decides(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (dj, operator) = (scenario.dj(100).await, scenario.operator().await);
    let changes = [
        UserStatusChange::Role(Role::Operator),
        UserStatusChange::Suspend,
        UserStatusChange::Suspend,
        UserStatusChange::Restore,
        UserStatusChange::Role(Role::Auditor),
        UserStatusChange::Role(Role::Member),
    ];
    for (seconds, change) in (1..).zip(changes) {
        let expected = change_user_status(&scenario.user(dj).await, change, at(seconds));
        match scenario.change_status(operator, dj, change, at(seconds)).await.outcome.entity {
            Entity::User(shown) => assert_eq!(shown, expected, "{change:?}"),
            other => panic!("no profile: {other:?}"),
        }
        assert_eq!(scenario.user(dj).await, expected, "{change:?}");
    }
}

/// A changed status is listed from its change on, with its current value; a change to the same status
/// is not.
pub async fn users_whose_status_changed_at_or_after_a_time_are_listed(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let operator = scenario.guest(0).await;
    let (ada, bob, cyd) = (scenario.guest(0).await, scenario.dj(100).await, scenario.guest(0).await);
    scenario.change_status(operator, ada, UserStatusChange::Role(Role::Auditor), at(10)).await;
    scenario.change_status(operator, bob, UserStatusChange::Suspend, at(20)).await;
    scenario.change_status(operator, cyd, UserStatusChange::Restore, at(30)).await;
    let statuses = async |since| scenario.store.revoked_since(at(since)).await.unwrap().statuses;
    let auditor = UserStatus { role: Role::Auditor, is_dj: false, suspended: false };
    let suspended = UserStatus { role: Role::Member, is_dj: true, suspended: true };
    assert_eq!(statuses(0).await, HashMap::from([(ada, auditor), (bob, suspended)]));
    assert_eq!(statuses(10).await, HashMap::from([(ada, auditor), (bob, suspended)]));
    assert_eq!(statuses(11).await, HashMap::from([(bob, suspended)]));
    scenario.change_status(operator, bob, UserStatusChange::Restore, at(40)).await;
    assert_eq!(statuses(30).await, HashMap::from([(bob, UserStatus { suspended: false, ..suspended })]));
    assert_eq!(statuses(41).await, HashMap::new());
}

/// A member who becomes a DJ is listed among the DJs, once, and among the changed statuses.
pub async fn a_new_dj_is_listed_once_among_the_djs_and_among_the_changed_statuses(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (ada, bob) = (scenario.guest(0).await, scenario.dj(100).await);
    for seconds in [5, 6] {
        let city = Field::Set(Some(line(&format!("City {seconds}"))));
        let change = ProfileChange { is_dj: Field::Set(true), city, ..ProfileChange::default() };
        scenario.fresh(plans::change_profile(scenario.by(ada, at(seconds)), ada, change)).await;
    }
    let user = scenario.user(ada).await;
    assert_eq!((user.is_dj(), user.status_changed_at), (true, Some(at(5))));
    let page = PageRequest::new(1, 10);
    let djs = scenario.store.djs(DjFilter::default(), page).await.unwrap();
    let mut listed: Vec<UserId> = djs.rows.iter().map(|dj| dj.id).collect();
    listed.sort_unstable();
    assert_eq!((listed, djs.total), (vec![ada, bob], 2));
    let statuses = async |since| scenario.store.revoked_since(at(since)).await.unwrap().statuses;
    assert_eq!(statuses(5).await, HashMap::from([(ada, UserStatus::of(&user))]));
    assert_eq!(statuses(6).await, HashMap::new());
}

/// Concurrent changes of a profile by its owner and of the status by an operator are both kept.
pub async fn concurrent_profile_and_status_changes_lose_no_update(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, operator) = (scenario.guest(0).await, scenario.operator().await);
    for round in 0..20 {
        let city = line(&format!("City {round}"));
        let role = if round % 2 == 0 { Role::Auditor } else { Role::Operator };
        let change = ProfileChange { city: Field::Set(Some(city.clone())), ..ProfileChange::default() };
        let both = [
            plans::change_profile(scenario.by(user, at(round)), user, change),
            plans::change_user_status(scenario.by(operator, at(round)), user, UserStatusChange::Role(role)),
        ];
        let tasks = both.map(|plan| {
            let scenario = scenario.clone();
            async move { scenario.fresh(plan).await }
        });
        at_once(tasks).await;
        let now = scenario.user(user).await;
        assert_eq!((now.city, now.role, now.status_changed_at), (Some(city), role, Some(at(round))));
    }
}
