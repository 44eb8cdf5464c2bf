//! The promises of Cuepoint's storage ports, as one test suite for every store.
//!
//! [`store_contract!`] generates a test for each promise, so that a store's test run lists them all. The
//! promises are ordinary functions on an `Arc<dyn Store>`, in files by subject. Each gets an empty store of
//! its own.

// A broken promise panics, which fails its test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

/// Declares the promises of a subject, in its file: a macro that generates a test for each of them. `$d` is the token `$`,
/// which a macro cannot write into another one.
macro_rules! promises {
    (($d:tt) $subject:ident as $tests:ident { $($promise:ident),+ $(,)? }) => {
        #[doc(hidden)]
        #[macro_export]
        macro_rules! $tests {
            ($d factory:path) => {
                mod $subject {
                    #[allow(unused_imports, reason = "the factory's path is resolved in the caller's module")]
                    use super::*;

                    $(
                        #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                        async fn $promise() {
                            let fixture = $d factory().await;
                            $d crate::subjects::$subject::$promise($d crate::Fixture::store(&fixture)).await;
                        }
                    )+
                }
            };
        }
    };
}

mod harness;
pub mod histories;
pub mod subjects;

use std::future::ready;
use std::sync::Arc;

use cuepoint_domain::ports::Store;
use futures_util::future::BoxFuture;

/// The fixture of one promise: a store, and everything that has to live as long as it.
pub trait Fixture: Send + Sync {
    /// The store, initially empty.
    fn store(&self) -> Arc<dyn Store>;

    /// The same data in a newly opened store, as after a restart of a server; a store without durable data is
    /// returned as it is.
    fn reopen(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(ready(self.store()))
    }
}

impl Fixture for Arc<dyn Store> {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(self)
    }
}

impl<Guard: Send + Sync> Fixture for (Arc<dyn Store>, Guard) {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.0)
    }
}

/// Generates a test for each promise, in a module for each subject.
///
/// `$factory` is the path of an async function without arguments that creates a [`Fixture`]; `histories` is
/// the number of random histories, each of `steps` commands. For a long run, `CUEPOINT_HISTORIES=100` in the
/// environment multiplies that number by a hundred.
#[macro_export]
macro_rules! store_contract {
    ($factory:path, histories = $histories:expr, steps = $steps:expr) => {
        mod histories {
            #[allow(unused_imports, reason = "the factory's path is resolved in the caller's module")]
            use super::*;

            #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn random_histories_agree_with_a_reference_model() {
                let fixture = $factory().await;
                $crate::histories::random_histories_agree_with_a_reference_model(
                    &fixture, $histories, $steps,
                )
                .await;
            }
        }
        $crate::approvals_promises!($factory);
        $crate::audit_promises!($factory);
        $crate::blocks_promises!($factory);
        $crate::claims_promises!($factory);
        $crate::clearing_promises!($factory);
        $crate::code_quotas_promises!($factory);
        $crate::concurrency_promises!($factory);
        $crate::cookies_promises!($factory);
        $crate::email_changes_promises!($factory);
        $crate::endpoint_security_promises!($factory);
        $crate::erasure_promises!($factory);
        $crate::gig_ends_promises!($factory);
        $crate::gigs_promises!($factory);
        $crate::guest_accounts_promises!($factory);
        $crate::ids_promises!($factory);
        $crate::keys_promises!($factory);
        $crate::ledger_promises!($factory);
        $crate::displacement_promises!($factory);
        $crate::limits_promises!($factory);
        $crate::logins_promises!($factory);
        $crate::networks_promises!($factory);
        $crate::orders_promises!($factory);
        $crate::payouts_promises!($factory);
        $crate::people_promises!($factory);
        $crate::personal_data_promises!($factory);
        $crate::personal_tokens_promises!($factory);
        $crate::positions_promises!($factory);
        $crate::provider_messages_promises!($factory);
        $crate::ratings_promises!($factory);
        $crate::receipts_promises!($factory);
        $crate::references_promises!($factory);
        $crate::repetitions_promises!($factory);
        $crate::requests_promises!($factory);
        $crate::reversals_promises!($factory);
        $crate::security_log_promises!($factory);
        $crate::sessions_promises!($factory);
        $crate::status_change_promises!($factory);
        $crate::suspense_promises!($factory);
        $crate::suspensions_promises!($factory);
        $crate::tips_promises!($factory);
        $crate::wallet_links_promises!($factory);
        $crate::wallets_promises!($factory);
        $crate::webhook_deliveries_promises!($factory);
        $crate::webhook_endpoints_promises!($factory);
        $crate::webhook_turns_promises!($factory);
        $crate::withdrawal_reviews_promises!($factory);
    };
    ($factory:path) => {
        $crate::store_contract!($factory, histories = 24, steps = 60);
    };
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    /// This file, which lists the subjects.
    const SUBJECTS: &str = include_str!("lib.rs");

    /// A promise that its file does not list would never be tested, nor those of a subject that is not listed here.
    #[test]
    fn every_promise_is_listed_in_its_file() {
        for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/subjects")).unwrap() {
            let path = entry.unwrap().path();
            if path.ends_with("mod.rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let (_, listed) = text.split_once("promises! {").unwrap();
            let (listed, _) = listed.split_once("}}").unwrap();
            let subject = path.file_stem().unwrap().to_str().unwrap();
            assert!(SUBJECTS.contains(&format!("$crate::{subject}_promises!($factory);")), "{subject}");
            let listed: Vec<&str> = listed.lines().map(|line| line.trim().trim_end_matches(',')).collect();
            let promises = text.lines().filter_map(|line| line.strip_prefix("pub async fn "));
            for promise in promises.filter_map(|line| line.split_once('(')).map(|(name, _)| name) {
                assert!(listed.contains(&promise), "{}: {promise} is not listed", path.display());
            }
        }
    }
}
