//! Fixtures: stores in a directory, and the fixtures of the suite of both SQL stores.

use std::path::Path;

use cuepoint_domain::ids::{OperationId, UserId, WithdrawalId};
use cuepoint_domain::operation::{Fingerprint, IdempotencyKey, KeyScope, OperationMetadata, Plan, plans};
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{NewWithdrawal, WithdrawalTerms};
use cuepoint_store_sqlite::SqliteStore;
use diesel::prelude::*;
use diesel::sql_types::BigInt;

pub(crate) use cuepoint_store_sql_tests::fixtures::*;

/// The withdrawals of a process that is killed: those made one after the other, and all, the rest of them at once.
pub(crate) const BEFORE: i64 = 5;
pub(crate) const ALL: i64 = 21;
/// The withdrawal with a key, at which that process dies.
pub(crate) const FATAL: i64 = 13;

pub(crate) fn open(directory: &Path) -> anyhow::Result<SqliteStore> {
    SqliteStore::open(directory, usd())
}

/// The message of a refused start, as an operator sees it.
pub(crate) fn refusal(directory: &Path) -> String {
    format!("{:#}", open(directory).expect_err("a refusal"))
}

/// A withdrawal of 1.00 with a given id, and with a key if asked for.
pub(crate) fn numbered_withdrawal(number: i64, user: UserId, has_key: bool) -> Plan {
    let line = |text| Line::new(text).unwrap();
    let amount = withdrawal_amount(1_00);
    let new =
        NewWithdrawal { amount, wallet_address: line("T1"), currency: line("USDT"), network: line("TRC20") };
    let operation = OperationId(u128::try_from(number).unwrap() + (2 << 64));
    let byte = u8::try_from(number % 256).unwrap();
    let key = IdempotencyKey { scope: KeyScope([byte; 32]), fingerprint: Fingerprint([byte; 32]) };
    let metadata =
        OperationMetadata { key: has_key.then_some(key), ..OperationMetadata::by(user, operation, now()) };
    let (id, terms) = (WithdrawalId::new(number).unwrap(), WithdrawalTerms::default());
    plans::open_withdrawal(metadata, id, user, new, &terms).unwrap()
}

/// The only value that a statement returns.
pub(crate) fn number(connection: &mut SqliteConnection, statement: &str) -> i64 {
    diesel::dsl::sql::<BigInt>(statement).get_result(connection).unwrap()
}

/// Audits the whole ledger, which is expected to be consistent.
pub(crate) async fn audit(store: &SqliteStore) {
    cuepoint_store_sql_tests::fixtures::audit(store).await.unwrap();
}
