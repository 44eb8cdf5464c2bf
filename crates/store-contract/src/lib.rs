//! The promises of Cuepoint's storage ports, as one test suite for every store.
//!
//! [`store_contract!`] generates a test for each promise, so that a store's test run lists them all. The
//! promises are ordinary functions on an `Arc<dyn Store>`, in files by subject. Each gets an empty store of
//! its own.

// A broken promise panics, which fails its test.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

pub mod approvals;
pub mod audit;
pub mod blocks;
pub mod code_quotas;
mod commands;
mod compare;
pub mod concurrency;
mod driver;
pub mod erasure;
pub mod histories;
pub mod ids;
pub mod keys;
pub mod ledger;
pub mod limits;
pub mod logins;
mod model;
pub mod networks;
mod observed;
pub mod orders;
pub mod payouts;
pub mod people;
pub mod personal_data;
pub mod provider_messages;
mod races;
pub mod receipts;
pub mod references;
mod refusal;
pub mod repetitions;
pub mod requests;
pub mod reversals;
mod scenario;
pub mod security_log;
pub mod sessions;
pub mod standing;
pub mod suspense;
pub mod suspensions;
mod tables;
pub mod wallets;

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
            async fn histories_agree_with_a_plain_model() {
                let fixture = $factory().await;
                $crate::histories::histories_agree_with_a_plain_model(&fixture, $histories, $steps).await;
            }
        }
        $crate::promises! { $factory;
            ledger {
                a_refused_plan_changes_nothing,
                a_plan_refused_at_its_second_leg_changes_nothing,
                a_plan_refused_at_its_last_leg_changes_nothing,
                no_balance_falls_below_zero,
                an_operation_is_applied_once,
                a_plan_on_a_state_that_moved_is_stale,
                a_state_is_more_than_its_name,
                a_missing_row_is_an_error,
                a_refused_profile_stays,
                entries_follow_each_other,
                times_never_go_backwards,
                a_price_of_nothing_has_no_entries,
                income_pays_what_is_owed_first,
                released_money_pays_nothing_that_is_owed,
                operations_of_earlier_rules_stay_sound,
                a_caller_that_goes_away_loses_nothing,
            }
            keys {
                a_key_replays_its_first_answer,
                a_key_with_another_body_is_refused,
                keys_of_different_scopes_are_different,
                a_refusal_uses_up_no_key,
                a_key_is_kept_for_seven_days,
                tidying_deletes_keys_past_their_time,
                a_key_is_kept_where_nothing_changed,
                an_unchanged_thing_leaves_no_trace,
            }
            approvals {
                two_operators_approve_what_is_above_the_limit,
                approvals_at_once_are_counted_once_each,
                a_plan_of_a_dismissed_operator_changes_nothing,
                an_earlier_approval_counts_while_it_could_be_given_anew,
                who_adjusted_a_wallet_judges_none_of_its_withdrawals,
                an_adjustment_at_the_same_time_counts_where_it_came_first,
            }
            limits {
                a_window_rolls_to_the_microsecond,
                only_what_may_be_paid_counts,
                a_window_counts_exactly_under_concurrency,
                only_open_requests_with_one_dj_count,
                open_requests_are_counted_exactly_under_concurrency,
            }
            concurrency {
                parallel_withdrawals_spend_each_cent_once,
                one_operation_submitted_in_parallel_is_applied_once,
                one_key_sent_in_parallel_is_done_once,
                one_key_with_many_bodies_stands_for_one,
                plans_on_one_state_have_one_winner,
                racing_answers_settle_a_request_once,
                racing_cancels_release_once,
                cancel_and_approve_have_one_winner,
                opposite_transfers_all_succeed,
                a_profile_and_its_counter_lose_no_update,
            }
            requests {
                a_request_reads_back_as_it_was_made,
                requests_are_listed_newest_first,
                who_made_a_request_to_whom_is_known,
                pages_cover_a_list,
                filters_show_what_is_asked_for,
                filters_see_expiry_by_the_clock,
                lists_show_requests_as_stored,
                lists_asked_at_once_are_each_their_own,
                overdue_requests_come_longest_first,
            }
            wallets {
                a_balance_is_there_from_the_start,
                entries_are_listed_newest_first,
                an_entry_is_found_by_its_number,
                a_balance_is_that_of_its_moment,
                withdrawals_are_listed_newest_first,
                withdrawals_are_listed_by_status,
                topups_are_listed_newest_first,
            }
            payouts {
                due_payouts_come_longest_waiting_first,
                a_payout_is_taken_up_by_one_worker,
                a_topup_is_settled_once_by_many_words,
            }
            orders {
                due_orders_come_longest_waiting_first,
                a_topup_is_taken_up_by_one_server,
                a_page_is_kept_until_and_after_the_money_came,
                an_order_on_a_topup_that_moved_is_stale,
            }
            references {
                a_withdrawal_is_found_by_the_operation_that_opened_it,
                a_topup_is_found_by_the_operation_that_opened_it,
            }
            reversals {
                a_reversal_takes_what_is_available_and_the_rest_is_owed,
                a_topup_is_reversed_once,
                only_a_confirmed_topup_is_reversed,
                a_reversal_leaves_an_event,
            }
            suspense {
                pending_topups_keep_their_owner_from_being_erased,
                who_was_erased_opens_no_topup,
                late_money_goes_into_suspense_once,
                a_pending_topup_of_somebody_erased_fails_with_its_money,
                suspense_is_settled_once,
                suspense_is_listed_unsettled_first,
            }
            receipts {
                receipts_of_requests_read_back,
                receipts_of_withdrawals_read_back,
                receipts_of_topups_and_adjustments_read_back,
                receipts_of_profiles_read_back,
                receipts_of_keys_read_back,
                profiles_in_receipts_are_kept_for_seven_days,
            }
            people {
                registering_makes_a_person_and_a_wallet,
                an_email_is_taken_in_every_letter_case,
                one_of_many_gets_an_email,
                the_first_operator_is_made_once,
                a_profile_reads_back_as_it_was_changed,
                djs_are_listed_newest_first,
                people_are_listed_newest_first,
            }
            sessions {
                a_token_is_exchanged_for_the_next,
                a_login_with_a_changed_password_begins_nothing,
                a_used_token_ends_its_session,
                of_two_racing_exchanges_without_a_common_key_one_ends_the_session,
                a_token_past_its_end_is_refused,
                a_used_token_past_its_end_still_ends_its_session,
                a_session_is_ended_by_any_of_its_tokens,
                sessions_are_listed_newest_first,
                nobody_ends_the_session_of_another,
                all_other_sessions_are_ended,
                ended_sessions_are_told_since_a_moment,
                tidying_deletes_sessions_past_their_time,
            }
            repetitions {
                of_two_racing_exchanges_both_get_the_same_successor,
                of_many_racing_exchanges_all_get_the_same_successor,
                an_exchange_is_repeated_for_a_minute,
                an_exchange_is_repeated_until_its_successor_is_used,
                a_successor_under_another_key_is_found,
                an_exchange_in_an_ended_session_is_not_repeated,
                a_repeated_registration_adds_one_person,
                a_repeated_login_begins_one_session,
            }
            networks {
                a_network_is_known_from_logins_and_refreshes,
                a_network_is_known_of_one_person_alone,
                a_refused_refresh_makes_no_network_known,
                tidying_forgets_networks_past_their_time,
                no_network_outlives_an_erasure,
            }
            logins {
                credentials_are_found_by_the_folded_email,
                a_rehash_overwrites_no_other_password,
                a_changed_password_ends_what_the_old_one_opened,
                one_of_many_changes_a_password,
                a_right_answer_proves_an_address_once,
                only_the_newest_challenge_is_answered_in_time,
                a_code_for_an_earlier_number_proves_nothing,
                wrong_answers_are_counted_exactly,
                one_of_many_right_answers_is_right,
                challenges_are_sent_a_few_times_an_hour,
                an_address_is_sent_a_few_challenges_whosever_it_is,
                a_reset_password_ends_everything,
                one_of_many_resets_a_password,
            }
            code_quotas {
                a_number_is_sent_a_few_codes_a_day,
                a_network_asks_for_some_codes_a_day,
                a_deployment_sends_some_codes_a_day,
                codes_asked_for_at_once_are_counted_exactly,
                an_erasure_resets_no_count,
                codes_count_under_every_key_and_for_the_longest_wait,
            }
            standing {
                a_standing_reads_back_as_it_was_changed,
                standings_are_told_since_a_moment,
                a_profile_and_a_standing_lose_no_update,
            }
            suspensions {
                a_suspension_ends_the_sessions,
                no_session_that_begins_beside_a_suspension_survives_it,
                no_more_sessions_live_than_may,
                the_last_active_operator_stays,
                of_operators_who_dismiss_each_other_one_remains,
                of_operators_who_leave_at_once_one_remains,
            }
            erasure {
                who_was_erased_is_nobody,
                earlier_answers_forget_who_was_erased,
                nobody_with_money_is_erased,
                a_person_is_erased_once,
                erasures_cross_whatever_else_is_done,
                blocks_go_with_who_was_erased,
                no_block_outlives_an_erasure,
                nobody_is_sent_a_challenge,
            }
            blocks {
                who_is_blocked_makes_no_request,
                a_block_is_since_its_first_time,
                blocks_are_listed_newest_first,
            }
            provider_messages {
                messages_read_back_as_they_came,
                a_message_is_kept_once,
                a_message_sent_in_parallel_is_kept_once,
                unresolved_messages_are_bounded,
                the_bound_holds_roughly_in_a_crowd,
                messages_are_listed_unresolved_first,
                a_message_is_resolved_once,
                one_of_many_resolves_a_message,
            }
            personal_data {
                money_and_requests_are_listed_whole,
                accounts_are_listed_whole,
                operations_about_a_person_are_listed,
                records_that_come_and_go_hide_no_other,
            }
            security_log {
                events_read_back_in_their_order,
                events_are_filtered,
                no_event_is_lost_in_a_crowd,
                operators_changes_leave_one_event_each,
                a_change_sent_in_parallel_leaves_one_event,
                tidying_deletes_events_older_than_a_year,
            }
            ids {
                identities_are_never_the_same_twice,
            }
            audit {
                an_empty_ledger_is_sound,
                a_sound_ledger_passes,
                a_self_check_says_how_far_it_is,
                a_ledger_in_use_is_never_accused,
            }
        }
    };
    ($factory:path) => {
        $crate::store_contract!($factory, histories = 24, steps = 60);
    };
}

/// Generates a test for each listed promise; [`store_contract!`] lists them all.
#[doc(hidden)]
#[macro_export]
macro_rules! promises {
    ($factory:path; $($subject:ident { $($promise:ident),+ $(,)? })+) => {$(
        mod $subject {
            #[allow(unused_imports, reason = "the factory's path is resolved in the caller's module")]
            use super::*;

            $(
                #[::tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $promise() {
                    let fixture = $factory().await;
                    $crate::$subject::$promise($crate::Fixture::store(&fixture)).await;
                }
            )+
        }
    )+};
}

#[cfg(test)]
mod tests {
    /// A promise that is not listed would never be tested.
    #[test]
    fn every_promise_is_named() {
        let named = include_str!("lib.rs");
        for (file, text) in [
            ("audit", include_str!("audit.rs")),
            ("blocks", include_str!("blocks.rs")),
            ("code_quotas", include_str!("code_quotas.rs")),
            ("concurrency", include_str!("concurrency.rs")),
            ("erasure", include_str!("erasure.rs")),
            ("histories", include_str!("histories.rs")),
            ("ids", include_str!("ids.rs")),
            ("keys", include_str!("keys.rs")),
            ("ledger", include_str!("ledger.rs")),
            ("limits", include_str!("limits.rs")),
            ("logins", include_str!("logins.rs")),
            ("orders", include_str!("orders.rs")),
            ("payouts", include_str!("payouts.rs")),
            ("networks", include_str!("networks.rs")),
            ("people", include_str!("people.rs")),
            ("personal_data", include_str!("personal_data.rs")),
            ("provider_messages", include_str!("provider_messages.rs")),
            ("receipts", include_str!("receipts.rs")),
            ("references", include_str!("references.rs")),
            ("requests", include_str!("requests.rs")),
            ("reversals", include_str!("reversals.rs")),
            ("security_log", include_str!("security_log.rs")),
            ("sessions", include_str!("sessions.rs")),
            ("standing", include_str!("standing.rs")),
            ("suspense", include_str!("suspense.rs")),
            ("suspensions", include_str!("suspensions.rs")),
            ("wallets", include_str!("wallets.rs")),
        ] {
            let promises = text.lines().filter_map(|line| line.strip_prefix("pub async fn "));
            for promise in promises.filter_map(|line| line.split_once('(')).map(|(name, _)| name) {
                assert!(named.contains(promise), "{file}::{promise} is not named in store_contract!");
            }
        }
    }
}
