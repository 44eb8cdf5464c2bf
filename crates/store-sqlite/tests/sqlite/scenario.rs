//! Fixtures: stores, users with money, and plans for them.

use std::path::Path;

use cuepoint_domain::account::User;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::plans;
use cuepoint_domain::ledger::{OperationMetadata, Plan};
use cuepoint_domain::money::{Amount, Currency, Money};
use cuepoint_domain::ports::{Ids, Ledger, PasswordHash, People, Registered, Wallets};
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::withdrawal::{NewWithdrawal, WithdrawalAmount, WithdrawalTerms};
use cuepoint_store_sqlite::SqliteStore;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

pub(crate) fn usd() -> Currency {
    Currency::new("USD", 2).unwrap()
}

pub(crate) fn open(directory: &Path) -> anyhow::Result<SqliteStore> {
    SqliteStore::open(directory, usd())
}

pub(crate) fn now() -> Timestamp {
    Timestamp::from_unix_micros(1_767_225_600_000_000)
}

pub(crate) fn metadata(store: &SqliteStore, user: UserId) -> OperationMetadata {
    OperationMetadata::by(user, store.operation(), now())
}

fn amount(cents: i128) -> Amount {
    Amount::new(Money::from_minor(cents)).unwrap()
}

/// A registered guest with this many cents.
pub(crate) async fn guest(store: &SqliteStore, cents: i128) -> UserId {
    let id = store.next_user().await.unwrap();
    let email = Email::new(&format!("person{id}@example.com")).unwrap();
    let user = User::registered(id, Line::new("Guest").unwrap(), email, None, false, now());
    let registered = store.register(&user, &PasswordHash("hash".into()), None).await.unwrap();
    assert_eq!(registered, Registered::Done);
    if cents > 0 {
        store.apply(topup(store, id, cents).await).await.unwrap();
    }
    id
}

pub(crate) async fn topup(store: &SqliteStore, user: UserId, cents: i128) -> Plan {
    let id = store.next_topup().await.unwrap();
    plans::open_topup(metadata(store, user), id, user, amount(cents), Charge::Confirmed)
}

/// A withdrawal to an address, which the database refuses if it is empty.
pub(crate) async fn withdrawal(store: &SqliteStore, user: UserId, cents: i128, address: &str) -> Plan {
    let new = NewWithdrawal {
        // A currency without decimals, whose minimum is 1.
        amount: WithdrawalAmount::new(amount(cents), &Currency::new("JPY", 0).unwrap()).unwrap(),
        wallet_address: Line::from_stored(address.to_owned()),
        currency: Line::new("USDT").unwrap(),
        network: Line::new("TRC20").unwrap(),
    };
    let id = store.next_withdrawal().await.unwrap();
    plans::open_withdrawal(metadata(store, user), id, user, new, &WithdrawalTerms::default()).unwrap()
}

pub(crate) async fn available(store: &SqliteStore, user: UserId) -> i128 {
    store.balance(user).await.unwrap().unwrap().available.minor()
}

/// The only value that a statement returns.
pub(crate) fn number(connection: &mut SqliteConnection, statement: &str) -> i64 {
    diesel::dsl::sql::<BigInt>(statement).get_result(connection).unwrap()
}
