//! What every SQL store must refuse, find and remove, as one test suite.
//!
//! [`sql_store_tests!`] generates a test for each promise, so that a store's test run lists them all. The promises
//! are ordinary functions on a [`SqlFixture`], in files by subject. Their SQL is written once, with
//! [placeholders](dialect) for what each database writes in its own way.

#![allow(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a broken promise fails its test"
)]
#![allow(clippy::inconsistent_digit_grouping, reason = "sums are written as dollars and cents: 100_00")]

pub mod dialect;
pub mod drift;
pub mod erasure;
pub mod erasure_at_size;
pub mod fixtures;
pub mod groups;
pub mod phone_codes;
pub mod reads;
pub mod redaction;
pub mod rules;
pub mod schema;
pub mod size;
pub mod tamper;

use std::sync::Arc;

use async_trait::async_trait;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::Store;

use dialect::{Dialect, written};

/// The fixture of one promise: a store on a fresh database, and a connection of the test's own to that database.
#[async_trait]
pub trait SqlFixture: Send + Sync {
    /// How the database writes values.
    fn dialect(&self) -> Dialect;

    /// The store, initially empty.
    fn store(&self) -> &dyn Store;

    /// The store of another server on the same database; the same store if one server uses a database at a time.
    async fn other_server(&self) -> Arc<dyn Store>;

    /// A new store on the same database, after the first one was closed.
    async fn reopen(&self) -> Arc<dyn Store>;

    /// Executes statements on the test's connection.
    ///
    /// # Errors
    /// The message of the database about the refused statement, for [`SqlFixture::names`].
    async fn try_execute(&self, statements: &str) -> Result<(), String>;

    /// The only value that a query returns.
    async fn number(&self, query: &str) -> i64;

    /// The texts that a query returns.
    async fn texts(&self, query: &str) -> Vec<String>;

    /// Whether the message of a refusal names this rule, which is in the form that [`schema::Violation`] describes.
    fn names(&self, refusal: &str, rule: &str) -> bool;

    /// Removes every constraint and trigger that would refuse a row, as an attacker with access to the rows could do.
    async fn remove_constraints(&self);

    /// Runs the background maintenance of the database for new rows.
    async fn vacuum(&self) {}

    /// A query of the names, as `table.column`, of all columns of texts, documents and numbers with a fraction.
    fn text_columns(&self) -> &'static str;

    /// Statements that begin a transaction. The store's writer waits for its end before it tops up this wallet.
    fn hold_up(&self, wallet: UserId) -> String;

    /// Waits until the store's writer waits for the transaction of [`SqlFixture::hold_up`].
    async fn until_held_up(&self);

    /// The number of transactions that wrote operations, if the database records it.
    async fn transactions(&self) -> Option<i64> {
        None
    }

    /// The number of profile changes of a user who has many.
    fn many_changes(&self) -> i64;

    /// Whether the store can name the row of a sum that cannot be decoded.
    fn names_undecodable_rows(&self) -> bool;

    /// Rows that violate a rule of this database alone, or a rule that it states in its own words.
    fn own_violations(&self) -> &'static [schema::Violation];

    /// Tampering that only this database permits, or shows in its own way.
    fn own_tampering(&self) -> &'static [tamper::Case];

    /// Executes a statement with placeholders that is expected to succeed.
    async fn execute(&self, template: &str) {
        let done = self.try_execute(&written(template, self.dialect())).await;
        done.unwrap_or_else(|error| panic!("{template}: {error}"));
    }

    /// The only value that a query with placeholders returns.
    async fn count(&self, template: &str) -> i64 {
        self.number(&written(template, self.dialect())).await
    }
}

/// Generates a test for each promise, in a module for each subject. `$factory` is the path of an async function
/// without arguments that creates a [`SqlFixture`].
#[macro_export]
macro_rules! sql_store_tests {
    ($factory:path) => {
        $crate::sql_store_tests! { $factory:
            erasure {
                an_erasure_leaves_no_personal_data,
                receipts_of_older_versions_can_be_read,
            }
            erasure_at_size {
                erasing_a_large_account_does_not_block_others,
                pending_topups_do_not_delay_the_removal_of_sessions,
            }
            groups {
                only_the_plan_that_the_database_refuses_fails,
                closing_the_store_finishes_queued_plans,
                plans_above_the_group_size_are_all_applied,
                queued_plans_share_a_transaction_and_fail_separately,
            }
            phone_codes {
                sent_codes_are_kept_for_a_day,
                servers_share_the_deployment_code_quota,
            }
            reads {
                reads_see_every_acknowledged_write,
                concurrent_readers_get_the_right_rows,
            }
            redaction {
                keys_with_redacted_receipts_are_stale,
                concurrent_purges_redact_several_batches_of_profiles,
            }
            rules {
                sql_and_domain_agree_on_due_payouts,
                sql_and_domain_agree_on_live_sessions,
                sql_and_domain_agree_on_event_retention,
            }
            schema {
                every_table_refuses_invalid_rows,
            }
            size {
                a_large_ledger_is_audited_in_bounded_memory,
            }
            tamper {
                every_tampered_row_is_reported_by_name,
            }
        }
    };
    ($factory:path: $($subject:ident { $($promise:ident,)+ })+) => {$(
        mod $subject {
            #[allow(unused_imports, reason = "the factory's path is resolved in the caller's module")]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $promise() {
                    let database = $factory().await;
                    $crate::$subject::$promise(&database).await;
                }
            )+
        }
    )+};
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// This file, which lists the promises.
    const LIST: &str = include_str!("lib.rs");

    /// A promise that is not listed would never be tested.
    #[test]
    fn every_promise_is_in_the_list_of_tests() {
        let mut found = 0;
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src")).unwrap() {
            let path = entry.unwrap().path();
            let subject = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let file = if path.is_dir() { path.join("mod.rs") } else { path };
            let text = fs::read_to_string(file).unwrap();
            let promises = text.lines().filter_map(|line| line.strip_prefix("pub async fn "));
            for promise in promises.filter_map(|line| line.strip_suffix("(database: &dyn SqlFixture) {")) {
                let listed = LIST.split_once(&format!("            {subject} {{\n")).unwrap().1;
                let listed = listed.split_once('}').unwrap().0;
                assert!(
                    listed.lines().any(|line| line.trim() == format!("{promise},")),
                    "{subject}: {promise}"
                );
                found += 1;
            }
        }
        assert!(found > 15, "{found} promises");
    }
}
