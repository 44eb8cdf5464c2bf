//! A group of plans: each is applied entirely or rejected by itself, and each row is written once.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a failure fails the test")]

use std::collections::HashSet;

use cuepoint_domain::ids::{OperationId, TopupId, UserId};
use cuepoint_domain::ledger::Wallet;
use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::operation::feature_level::FeatureLevel;
use cuepoint_domain::operation::{
    Book, Entity, Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, Outcome, Plan, Rejection, plans,
};
use cuepoint_domain::ports::Applied;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Charge, Topup, TopupStatus};
use cuepoint_domain::user::Role;
use cuepoint_store_sql::rows::{Named, StoredUser, StoredWallet, Sum};
use cuepoint_store_sql::{EntityRows, Folded, GroupLockSet, LoadedRows, fold};

const OWNER: i64 = 1;
const STRANGER: i64 = 9;

fn usd() -> Currency {
    Currency::new("USD", 2).unwrap()
}

fn at() -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_000)
}

fn user(id: i64) -> UserId {
    UserId::new(id).unwrap()
}

fn member(id: i64) -> StoredUser {
    let nothing = Sum::of(&usd(), Money::ZERO);
    StoredUser {
        id,
        name: "N".to_owned(),
        email: "n@example.com".to_owned(),
        email_verified: false,
        phone: None,
        phone_verified: false,
        role: Named::of(Role::Member),
        is_dj: false,
        online: false,
        fee_upcoming_artist: nothing.clone(),
        fee_popular_song: nothing,
        played: 0,
        rating_stars: 0,
        rating_count: 0,
        city: None,
        state: None,
        country: None,
        latitude: None,
        longitude: None,
        radius: None,
        created_at: at(),
        suspended_at: None,
        standing_at: None,
        erased_at: None,
        login_changed_at: None,
    }
}

/// The book of a user with an empty wallet.
fn book() -> Book {
    let wallet = StoredWallet::of(&Wallet::empty(user(OWNER)), &usd());
    let rows = LoadedRows {
        entities: EntityRows { users: vec![member(OWNER)], ..EntityRows::default() },
        wallets: vec![wallet],
        ..LoadedRows::default()
    };
    rows.book(FeatureLevel::NEWEST, &usd()).unwrap()
}

fn topup(operation: u128, owner: i64, charge: Charge) -> Plan {
    let metadata = OperationMetadata::by(user(owner), OperationId(operation), at());
    topup_of(metadata, charge)
}

fn topup_of(metadata: OperationMetadata, charge: Charge) -> Plan {
    let id = TopupId::new(i64::try_from(metadata.operation.0).unwrap()).unwrap();
    let owner = metadata.person().unwrap();
    plans::open_topup(metadata, id, owner, Amount::new(Money::from_minor(100)).unwrap(), charge)
}

fn folded(book: &mut Book, plans: &[&Plan]) -> Folded {
    fold(book, plans, &mut HashSet::new(), &usd()).unwrap()
}

fn opened(answer: &Result<Applied, Rejection>) -> Topup {
    match answer.as_ref().map(|applied| &applied.receipt().outcome) {
        Ok(Outcome { entity: Entity::Topup(topup), .. }) => topup.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_rejected_plan_does_not_fail_its_group() {
    let group = [
        topup(1, OWNER, Charge::Confirmed),
        topup(2, STRANGER, Charge::Confirmed),
        topup(3, OWNER, Charge::Confirmed),
    ];
    let Folded { answers, writes } = folded(&mut book(), &group.each_ref());
    assert!(matches!(answers.as_slice(), [Ok(Applied::Fresh(_)), Err(Rejection::Missing(_)), Ok(_)]));
    let operations: Vec<u128> = writes.operations.iter().map(|operation| operation.id.as_u128()).collect();
    assert_eq!(operations, [1, 3]);
    let seqs: Vec<i64> = writes.entries.iter().map(|entry| entry.seq).collect();
    assert_eq!(seqs, [1, 2]);
    let wallets: Vec<&StoredWallet> = writes.wallets.values().collect();
    assert_eq!(wallets.len(), 1, "the last image of the wallet alone");
    assert!(
        wallets.iter().all(|wallet| wallet.available.money(&usd(), "").unwrap() == Money::from_minor(200))
    );
}

#[test]
fn a_row_opened_and_moved_in_one_group_is_written_once() {
    let open = topup(1, OWNER, Charge::Pending);
    let pending = opened(folded(&mut book(), &[&open]).answers.first().unwrap());
    assert_eq!(pending.status, TopupStatus::Pending);
    let settle = plans::settle_topup(OperationMetadata::system(OperationId(2), at()), &pending, true);
    let writes = folded(&mut book(), &[&open, &settle]).writes;
    assert!(writes.entities.topups.moved.is_empty());
    let statuses: Vec<_> = writes.entities.topups.opened.values().map(|row| row.status.get()).collect();
    assert_eq!(statuses, [Some(TopupStatus::Confirmed)]);
    // A row that the database already has is moved.
    let mut later = book();
    let _ = folded(&mut later, &[&open]);
    let writes = folded(&mut later, &[&settle]).writes;
    assert_eq!((writes.entities.topups.opened.len(), writes.entities.topups.moved.len()), (0, 1));
}

#[test]
fn an_operation_of_an_earlier_attempt_is_reported_as_fresh_only_once() {
    let plan = topup(1, OWNER, Charge::Confirmed);
    let mut book = book();
    let _ = folded(&mut book, &[&plan]);
    let mut own = HashSet::from([OperationId(1)]);
    let again = fold(&mut book, &[&plan, &plan], &mut own, &usd()).unwrap();
    assert!(matches!(again.answers.as_slice(), [Ok(Applied::Fresh(_)), Ok(Applied::Replayed(_))]));
    assert!(again.writes.is_empty() && own.is_empty());
}

#[test]
fn an_expired_idempotency_key_is_replaced_only_once_in_a_group() {
    let key = IdempotencyKey { scope: KeyScope([1; 32]), fingerprint: Fingerprint([2; 32]) };
    let keyed = |operation, at| {
        let metadata = OperationMetadata {
            key: Some(key),
            ..OperationMetadata::by(user(OWNER), OperationId(operation), at)
        };
        topup_of(metadata, Charge::Confirmed)
    };
    let mut book = book();
    let first = folded(&mut book, &[&keyed(1, at())]).writes;
    assert_eq!((first.keys.len(), first.replaced_keys.len()), (1, 0));
    let much_later = Timestamp::from_unix_micros(at().unix_micros().saturating_mul(2));
    let (second, third) = (keyed(2, much_later), keyed(3, much_later));
    let Folded { answers, writes } = folded(&mut book, &[&second, &third]);
    assert!(matches!(answers.as_slice(), [Ok(Applied::Fresh(_)), Ok(Applied::Replayed(_))]));
    assert_eq!((writes.keys.len(), writes.replaced_keys), (1, vec![vec![1; 32]]));
}

#[test]
fn a_group_locks_the_rows_of_all_its_plans() {
    let (one, other) = (topup(1, OWNER, Charge::Confirmed), topup(2, STRANGER, Charge::Confirmed));
    let set = GroupLockSet::of([&one, &other]);
    assert_eq!(set.operations, [OperationId(1), OperationId(2)]);
    assert!(set.rows.wallets.contains(&user(OWNER)) && set.rows.wallets.contains(&user(STRANGER)));
}
