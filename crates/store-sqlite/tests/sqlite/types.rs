//! The ledger audit finds values with a type other than the type of their column, and missing values.

use cuepoint_store_sql_tests::tamper::{self, Case};

use crate::suite::database;

/// Rewrites the schema so that tables accept values of any type, and missing ones.
const UNTYPED: &str = "PRAGMA writable_schema = ON; \
    UPDATE sqlite_schema SET sql = replace(replace(sql, ') STRICT, ', ') '), ') STRICT', ')') WHERE type = 'table'; \
    UPDATE sqlite_schema SET sql = replace(sql, 'TEXT NOT NULL', 'TEXT') WHERE type = 'table'; \
    UPDATE sqlite_schema SET sql = replace(sql, 'INTEGER NOT NULL', 'INTEGER') WHERE type = 'table'; \
    PRAGMA writable_schema = RESET";

/// The cases; rows as [`tamper::populate`] leaves them.
const TYPES: &[Case] = &[
    (
        "a missing balance",
        "UPDATE wallets SET available = NULL WHERE user_id = 2",
        "the wallet after wallet 1 cannot be read",
    ),
    (
        "a balance that is a number",
        "UPDATE wallets SET available = 10.5 WHERE user_id = 2",
        "wallet 2 cannot be read",
    ),
    (
        "a text as a time",
        "UPDATE wallets SET last_at = 'never' WHERE user_id = 1",
        "wallet 1: its balance, time or head",
    ),
    (
        "a missing time",
        "UPDATE wallets SET last_at = NULL WHERE user_id = 1",
        "the first wallet cannot be read",
    ),
    ("a number as a hash", "UPDATE wallets SET head = 5 WHERE user_id = 1", "wallet 1 cannot be read"),
    (
        "a missing fee",
        "UPDATE music_requests SET fee = NULL WHERE id = 2",
        "the music request after music request 1 cannot be read",
    ),
    (
        "a missing status",
        "UPDATE withdrawals SET status = NULL WHERE id = 1",
        "the first withdrawal cannot be read",
    ),
    (
        "a missing amount",
        "UPDATE topups SET amount = NULL WHERE id = 3",
        "the top-up after top-up 2 cannot be read",
    ),
    (
        "bytes that are no text",
        "UPDATE topups SET amount = x'ff' WHERE id = 3",
        "top-up 3 cannot be read: the column topups.amount",
    ),
    (
        "a missing posting",
        "UPDATE postings SET amount = NULL WHERE id = 1",
        "the first posting cannot be read",
    ),
    (
        "a text as an id of an operation",
        "UPDATE postings SET operation_id = 'operation' WHERE id = 1",
        "the first posting cannot be read",
    ),
];

/// Values of types that the tables refuse, after the schema was rewritten without its types.
#[tokio::test(flavor = "multi_thread")]
async fn the_ledger_audit_finds_every_value_of_a_wrong_type() {
    let database = database().await;
    tamper::check(&database, UNTYPED, TYPES).await;
}
