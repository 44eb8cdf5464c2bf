//! Erasure: no personal data remain, and the ledger stays consistent.

use std::sync::Arc;

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Balance, Wallet};
use cuepoint_domain::music_request::Move;
use cuepoint_domain::operation::{OperationMetadata, Rejection, plans};
use cuepoint_domain::page::{PageRequest, Rows};
use cuepoint_domain::ports::{Applied, DjFilter, Erased, PasswordHash, Registered, Store};
use cuepoint_domain::privacy::{self, ErasureRefusal};
use cuepoint_domain::text::Email;
use cuepoint_domain::user::challenge::{AnswerOutcome, Challenge, Purpose};
use cuepoint_domain::user::session::TokenHash;
use cuepoint_domain::user::{DjChange, Field, Locate, ProfileChange, User, UserStatusChange};

use crate::harness::scenario::{Scenario, at, at_once, line};
use crate::subjects::sessions::{alive, log_in, successor};

promises! { ($) erasure as erasure_promises {
    an_erased_user_cannot_log_in_and_is_not_listed,
    a_repeated_profile_change_by_an_erased_user_is_stale,
    a_user_with_money_or_debt_is_not_erased,
    concurrent_erasures_erase_a_user_once,
    erasures_never_deadlock_with_concurrent_operations,
    an_erasure_deletes_blocks_in_both_directions,
    concurrent_blocks_do_not_outlive_an_erasure,
    unknown_and_erased_users_get_no_challenge,
}}

/// A DJ with a full profile, recorded by two operations.
async fn ada(scenario: &Scenario) -> User {
    let mut user = scenario.stranger(true, at(0)).await;
    user.email = Email::new("Ada@Example.com").unwrap();
    scenario.register(&user).await;
    let set = |text: &str| Field::Set(Some(line(text)));
    let change = ProfileChange {
        name: Field::Set(line("Ada Lovelace")),
        phone: set("+442079460000"),
        city: set("London"),
        place: Locate { latitude: Field::Set(Some(51.5)), longitude: Field::Set(Some(-0.1)) },
        dj: DjChange { online: Field::Set(true), ..DjChange::default() },
        ..ProfileChange::default()
    };
    scenario.fresh(plans::change_profile(scenario.by(user.id, at(1)), user.id, change)).await;
    scenario.user(user.id).await
}

async fn erase(scenario: &Scenario, user: UserId, seconds: i64) -> Erased {
    scenario.erase(user, seconds).await
}

/// An erased user matches the domain's decision, cannot log in and is not listed; their address is free
/// again.
pub async fn an_erased_user_cannot_log_in_and_is_not_listed(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = ada(&scenario).await;
    log_in(&scenario.store, user.id, 1, at(1)).await;
    let phone = Challenge::issue(&user, Purpose::Phone, TokenHash([1; 32]), at(2)).unwrap();
    scenario.store.issue(&phone, None).await.unwrap();
    assert_eq!(erase(&scenario, user.id, 3).await, Erased::Done);

    let wallet = Wallet::empty(user.id);
    let password = PasswordHash("hash".to_owned());
    let expected =
        privacy::erase(&user, (&password, &password), &wallet, [], (None, at(3)), None, at(3)).unwrap();
    assert_eq!(scenario.user(user.id).await, expected);
    assert_eq!(scenario.store.credentials_of(user.id).await.unwrap(), None);
    for email in [user.email.folded(), expected.email.folded()] {
        assert_eq!(scenario.store.credentials(&email).await.unwrap(), None);
    }
    scenario
        .store
        .rehash(user.id, &PasswordHash("!".to_owned()), &PasswordHash("mine".to_owned()))
        .await
        .unwrap();
    assert_eq!(scenario.store.credentials_of(user.id).await.unwrap(), None);
    let answered =
        scenario.store.answer(user.id, Purpose::Phone, &[TokenHash([1; 32])], at(4)).await.unwrap();
    assert_eq!(answered, AnswerOutcome::Over);
    assert_eq!(alive(&scenario.store, user.id, at(4)).await, []);
    let page = PageRequest::new(1, 15);
    assert_eq!(scenario.store.djs(DjFilter::default(), page).await.unwrap(), Rows::none(0));
    assert_eq!(scenario.store.people(None, page).await.unwrap(), Rows::none(0));
    let revoked = scenario.store.revoked_since(at(3)).await.unwrap();
    assert_eq!((revoked.sessions.len(), revoked.statuses.contains_key(&user.id)), (1, true));

    let next = User { email: user.email.clone(), ..scenario.stranger(false, at(5)).await };
    let registered = scenario.store.register(&next, &PasswordHash("hash".to_owned()), None).await.unwrap();
    assert_eq!(registered, Registered::Done);
}

/// Receipts of earlier commands show no erased profile: repeating such a command is stale.
pub async fn a_repeated_profile_change_by_an_erased_user_is_stale(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (user, other) = (ada(&scenario).await, scenario.dj(100).await);
    let change = |name: &str| ProfileChange { name: Field::Set(line(name)), ..ProfileChange::default() };
    let theirs = plans::change_profile(scenario.by(user.id, at(2)), user.id, change("Countess Lovelace"));
    let others = plans::change_profile(scenario.by(other, at(2)), other, change("Charles Babbage"));
    scenario.fresh(theirs.clone()).await;
    let kept = scenario.fresh(others.clone()).await;
    assert_eq!(erase(&scenario, user.id, 3).await, Erased::Done);
    assert_eq!(scenario.apply(theirs).await, Err(Rejection::Stale));
    // Nothing remained to be done.
    scenario.store.finish_erasures().await.unwrap();
    assert_eq!(scenario.apply(others).await, Ok(Applied::Replayed(kept)));
}

/// A user with money, be it available, held or owed, is not erased; one without is, even after payments, and
/// the ledger stays consistent.
///
/// Attack API6: an erasure to be rid of a debt.
pub async fn a_user_with_money_or_debt_is_not_erased(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store).with_commission(1_000);
    let (guest, dj) = (scenario.guest(100).await, scenario.dj(100).await);
    let refused = Erased::Refused(ErasureRefusal::MoneyLeft);
    let before = scenario.user(guest).await;
    assert_eq!(erase(&scenario, guest, 1).await, refused, "available");
    let request = scenario.request(guest, dj, at(2)).await;
    assert_eq!(erase(&scenario, guest, 3).await, refused, "held");
    assert_eq!(scenario.user(guest).await, before);
    scenario.move_request(request.id, Move::Play, at(4)).await.unwrap();
    assert_eq!(erase(&scenario, dj, 5).await, refused, "earned");
    let debtor = scenario.guest(0).await;
    let topup = scenario.confirmed_topup(debtor, 100).await;
    scenario.fresh(scenario.adjust_plan(scenario.by(guest, at(5)), debtor, -100).await).await;
    scenario.fresh(plans::reverse_topup(scenario.by(guest, at(5)), &topup).unwrap()).await;
    assert_eq!(erase(&scenario, debtor, 6).await, refused, "owed");
    assert_eq!(erase(&scenario, guest, 5).await, Erased::Done);
    assert_eq!(scenario.balance(guest).await, Balance::default());
    assert_eq!(scenario.store.entries(guest, PageRequest::new(1, 15)).await.unwrap().total, 3);
    assert_eq!(scenario.stored_request(request.id).await.requester, guest);
    scenario.audit().await;
}

/// A user is erased once, also by many concurrent erasures.
pub async fn concurrent_erasures_erase_a_user_once(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let user = scenario.guest(0).await;
    let tasks = (0..10).map(|_| {
        let scenario = scenario.clone();
        async move { erase(&scenario, user, 1).await }
    });
    let answers = at_once(tasks).await;
    assert_eq!(answers.iter().filter(|erased| **erased == Erased::Done).count(), 1);
    assert_eq!(answers.iter().filter(|erased| **erased == Erased::Nobody).count(), 9);
    let erased = scenario.user(user).await;
    assert_eq!(erase(&scenario, user, 2).await, Erased::Nobody);
    assert_eq!(scenario.user(user).await, erased);
    let nobody = scenario.ids.next_user().await.unwrap();
    assert_eq!(erase(&scenario, nobody, 2).await, Erased::Nobody);
}

/// Erasures deadlock with no other concurrent operation on the same users, and complete.
pub async fn erasures_never_deadlock_with_concurrent_operations(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (operator, guest) = (scenario.guest(0).await, scenario.guest(10_000).await);
    let mut djs = Vec::new();
    for number in 0..8 {
        let dj = scenario.dj(100).await;
        log_in(&scenario.store, dj, number, at(0)).await;
        for other in &djs {
            scenario.store.block(dj, *other, at(1)).await.unwrap();
            scenario.store.block(*other, dj, at(1)).await.unwrap();
        }
        djs.push(dj);
    }
    let tasks = (0..).zip(&djs).flat_map(|(number, dj)| (0..5).map(move |what| (number, *dj, what))).map(
        |(number, dj, what)| {
            let scenario = scenario.clone();
            async move {
                match what {
                    0 => assert_eq!(erase(&scenario, dj, 3).await, Erased::Done),
                    1 => {
                        let metadata = OperationMetadata {
                            reason: Some(line("a reason")),
                            ..scenario.by(operator, at(2))
                        };
                        let plan = plans::change_user_status(metadata, dj, UserStatusChange::Suspend);
                        let stood = scenario.apply(plan).await;
                        assert!(
                            matches!(stood, Ok(_) | Err(Rejection::Missing(EntityKind::User))),
                            "{stood:?}"
                        );
                    }
                    2 => drop(scenario.store.end_sessions(dj, None, at(2)).await.unwrap()),
                    3 => {
                        let next = successor(100 + number);
                        let token = TokenHash([number; 32]);
                        scenario.store.exchange(&token, &next, None, at(900), at(2)).await.unwrap();
                    }
                    _ => {
                        let plan = scenario.adjust_plan(scenario.by(dj, at(2)), guest, -1).await;
                        scenario.fresh(plan).await;
                    }
                }
            }
        },
    );
    at_once(tasks).await;
    for dj in djs {
        assert_eq!(scenario.user(dj).await.erased_at, Some(at(3)));
        assert_eq!(alive(&scenario.store, dj, at(4)).await, []);
    }
    scenario.audit().await;
}

/// An erasure deletes the blocks by the user and of the user.
pub async fn an_erasure_deletes_blocks_in_both_directions(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (dj, other) = (scenario.dj(100).await, scenario.dj(100).await);
    for (one, two) in [(dj, other), (other, dj)] {
        assert!(scenario.store.block(one, two, at(1)).await.unwrap().is_some());
    }
    assert_eq!(erase(&scenario, dj, 2).await, Erased::Done);
    for (one, two) in [(dj, other), (other, dj)] {
        assert!(!scenario.store.is_blocked(one, two).await.unwrap());
    }
    assert_eq!(scenario.store.blocks(other, PageRequest::new(1, 15)).await.unwrap(), Rows::none(0));
    for (one, two) in [(dj, other), (other, dj)] {
        assert_eq!(scenario.store.block(one, two, at(3)).await.unwrap(), None, "the user was erased");
        assert!(!scenario.store.is_blocked(one, two).await.unwrap());
    }
}

/// Of a concurrent block and erasure, in either order, no block remains.
pub async fn concurrent_blocks_do_not_outlive_an_erasure(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let other = scenario.dj(100).await;
    let mut djs = Vec::new();
    for _ in 0..10 {
        djs.push(scenario.dj(100).await);
    }
    let tasks = djs.iter().flat_map(|dj| (0..3).map(move |what| (*dj, what))).map(|(dj, what)| {
        let scenario = scenario.clone();
        async move {
            match what {
                0 => drop(scenario.store.block(dj, other, at(1)).await.unwrap()),
                1 => drop(scenario.store.block(other, dj, at(1)).await.unwrap()),
                _ => assert_eq!(erase(&scenario, dj, 2).await, Erased::Done),
            }
        }
    });
    at_once(tasks).await;
    for dj in djs {
        assert!(!scenario.store.is_blocked(dj, other).await.unwrap());
        assert!(!scenario.store.is_blocked(other, dj).await.unwrap());
    }
}

/// No challenge is issued to an unknown or erased user.
pub async fn unknown_and_erased_users_get_no_challenge(store: Arc<dyn Store>) {
    let scenario = Scenario::new(store);
    let (erased, unknown) = (ada(&scenario).await, scenario.stranger(false, at(0)).await);
    assert_eq!(erase(&scenario, erased.id, 1).await, Erased::Done);
    for user in [erased, unknown] {
        let challenge = Challenge::issue(&user, Purpose::Email, TokenHash([1; 32]), at(2)).unwrap();
        assert!(scenario.store.issue(&challenge, None).await.is_err());
    }
}
