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
pub mod email_changes;
pub mod endpoint_security;
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
pub mod positions;
pub mod provider_messages;
mod races;
pub mod ratings;
pub mod receipts;
pub mod references;
mod refusal;
pub mod repetitions;
pub mod requests;
pub mod reversals;
mod scenario;
pub mod security_log;
pub mod sessions;
pub mod status_change;
pub mod suspense;
pub mod suspensions;
mod tables;
pub mod wallets;
pub mod webhook_deliveries;
pub mod webhook_endpoints;
pub mod webhook_turns;
pub mod withdrawal_reviews;

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
        $crate::promises! { $factory;
            ledger {
                a_refused_plan_changes_nothing,
                a_plan_refused_at_its_second_leg_changes_nothing,
                a_plan_refused_at_its_last_leg_changes_nothing,
                no_balance_falls_below_zero,
                an_operation_is_applied_once,
                a_plan_decided_on_an_outdated_state_is_stale,
                states_of_one_status_with_other_times_are_different,
                a_missing_row_is_an_error,
                a_refused_profile_change_changes_nothing,
                entries_are_numbered_and_chained,
                entry_times_never_decrease,
                a_free_request_has_no_entries,
                income_pays_debt_first,
                released_money_pays_debt_first,
                operations_are_audited_by_their_own_posting_rules,
                an_abandoned_apply_is_applied_once_by_its_retry,
            }
            positions {
                operations_are_listed_in_their_order,
                a_read_continues_after_a_position,
                refused_and_repeated_operations_take_no_position,
                a_follower_of_concurrent_operations_misses_none,
                operations_are_listed_for_the_users_whom_they_concern,
                a_follower_of_one_user_misses_none,
                commits_are_announced,
            }
            keys {
                a_key_replays_its_first_answer,
                a_key_with_another_body_is_refused,
                keys_of_different_scopes_are_different,
                a_refusal_uses_up_no_key,
                a_key_is_kept_for_seven_days,
                a_purge_deletes_expired_keys,
                a_key_is_kept_for_a_command_without_effect,
                a_keyless_command_without_effect_leaves_no_trace,
            }
            approvals {
                a_withdrawal_above_the_limit_needs_two_approvals,
                concurrent_approvals_are_counted_once_each,
                a_plan_of_a_dismissed_operator_changes_nothing,
                an_earlier_approval_counts_only_while_its_operator_is_eligible,
                an_operator_cannot_judge_withdrawals_of_a_wallet_they_adjusted,
                a_concurrent_adjustment_bars_a_later_rejection,
            }
            limits {
                a_window_rolls_to_the_microsecond,
                only_withdrawals_that_may_be_paid_count,
                a_window_counts_exactly_under_concurrency,
                only_open_requests_with_one_dj_count,
                open_requests_are_counted_exactly_under_concurrency,
            }
            withdrawal_reviews {
                concurrent_withdrawals_are_added_up,
                reviews_show_the_sums_by_which_withdrawals_are_judged,
                withdrawals_in_debt_delay_no_others,
                a_chargeback_and_an_approval_are_applied_one_after_the_other,
                cancelling_and_sending_have_one_winner,
            }
            concurrency {
                parallel_withdrawals_spend_each_cent_once,
                one_operation_submitted_in_parallel_is_applied_once,
                one_key_sent_in_parallel_runs_its_command_once,
                one_key_with_many_bodies_is_bound_to_one,
                plans_on_one_state_have_one_winner,
                racing_answers_settle_a_request_once,
                racing_cancels_release_once,
                cancel_and_approve_have_one_winner,
                opposite_transfers_do_not_deadlock,
                profile_changes_and_played_songs_lose_no_update,
            }
            requests {
                a_request_reads_back_as_it_was_made,
                requests_are_listed_newest_first,
                past_requesters_of_a_dj_are_known,
                pages_cover_a_list_without_gap_or_overlap,
                requests_are_filtered_by_requester_dj_and_status,
                filters_use_the_status_at_the_current_time,
                lists_show_requests_as_stored,
                concurrent_lists_return_their_own_rows,
                overdue_requests_are_listed_longest_overdue_first,
            }
            wallets {
                a_new_wallet_has_a_zero_balance,
                entries_are_listed_newest_first,
                entries_are_listed_by_kind,
                an_entry_is_found_by_its_number,
                a_balance_at_a_past_time_is_that_of_the_last_entry,
                withdrawals_are_listed_newest_first,
                withdrawals_are_listed_by_status,
                topups_are_listed_newest_first,
            }
            payouts {
                due_payouts_are_listed_longest_waiting_first,
                a_payout_is_claimed_by_one_worker,
                a_topup_is_settled_once_by_many_status_updates,
            }
            orders {
                due_orders_are_listed_longest_waiting_first,
                a_topup_is_claimed_by_one_server,
                a_payment_page_is_kept_after_the_confirmation,
                an_order_decided_on_an_outdated_topup_is_stale,
            }
            references {
                a_withdrawal_is_found_by_the_operation_that_opened_it,
                a_topup_is_found_by_the_operation_that_opened_it,
            }
            reversals {
                a_reversal_debits_the_available_balance_and_the_rest_is_owed,
                a_topup_is_reversed_once,
                only_a_confirmed_topup_is_reversed,
                a_reversal_by_an_operator_records_an_event,
            }
            suspense {
                pending_topups_prevent_an_erasure,
                an_erasure_is_pending_until_its_topups_have_failed,
                an_erased_user_opens_no_topup,
                late_money_goes_into_suspense_once,
                a_pending_topup_of_an_erased_user_fails_when_its_money_arrives,
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
                a_registration_creates_a_user_and_a_wallet,
                an_email_is_unique_regardless_of_letter_case,
                one_of_many_concurrent_registrations_gets_an_email,
                the_first_operator_is_created_once,
                a_profile_reads_back_as_it_was_changed,
                djs_are_listed_newest_first,
                users_are_listed_newest_first,
                names_of_present_users_are_read_at_once,
            }
            sessions {
                a_token_is_exchanged_for_the_next,
                a_login_with_a_changed_password_begins_no_session,
                a_used_token_ends_its_session,
                racing_exchanges_without_a_common_key_end_the_session,
                an_expired_token_is_refused_and_ends_no_session,
                a_reused_expired_token_still_ends_its_session,
                a_session_is_ended_by_any_of_its_tokens,
                sessions_are_listed_newest_first,
                a_user_cannot_end_the_session_of_another,
                all_other_sessions_are_ended,
                ended_sessions_are_listed_since_a_time,
                a_purge_deletes_expired_tokens_and_ended_sessions,
            }
            repetitions {
                two_racing_exchanges_get_the_same_successor,
                many_racing_exchanges_get_the_same_successor,
                an_exchange_is_repeated_for_a_minute,
                an_exchange_is_repeated_until_its_successor_is_used,
                a_successor_under_another_key_is_found,
                an_exchange_in_an_ended_session_is_not_repeated,
                a_repeated_registration_adds_one_user,
                a_repeated_login_begins_one_session,
            }
            networks {
                a_network_is_known_from_logins_and_refreshes,
                a_network_is_known_for_one_user_only,
                a_refused_refresh_records_no_network,
                a_purge_deletes_expired_networks,
                no_network_outlives_an_erasure,
            }
            logins {
                credentials_are_found_by_the_folded_email,
                a_rehash_overwrites_no_other_password,
                a_password_change_ends_other_sessions_and_resets,
                one_of_many_concurrent_password_changes_succeeds,
                a_right_answer_verifies_an_address_once,
                only_the_newest_unexpired_challenge_can_be_answered,
                a_code_for_an_earlier_number_verifies_nothing,
                wrong_answers_are_counted_exactly,
                one_of_many_concurrent_right_answers_succeeds,
                challenges_per_user_and_hour_are_limited,
                challenges_per_address_and_hour_are_limited_across_users,
                a_password_reset_ends_every_session,
                one_of_many_concurrent_password_resets_succeeds,
            }
            email_changes {
                a_code_changes_the_address_and_ends_the_others,
                wrong_codes_and_new_passwords_end_a_change,
                an_ended_session_changes_no_address,
                a_taken_address_is_refused_at_the_confirmation,
                a_restorable_address_is_reserved,
                a_token_restores_the_previous_address_once,
                concurrent_changes_give_an_address_to_one_user,
            }
            code_quotas {
                codes_per_number_and_day_are_limited,
                codes_per_network_and_day_are_limited,
                codes_per_deployment_and_day_are_limited,
                concurrent_codes_are_counted_exactly,
                an_erasure_resets_no_code_quota,
                codes_count_under_every_key_and_the_longest_wait_is_reported,
            }
            status_change {
                an_account_status_reads_back_as_it_was_changed,
                account_statuses_are_listed_since_a_time,
                a_member_who_becomes_a_dj_is_listed,
                concurrent_profile_and_status_changes_lose_no_update,
            }
            suspensions {
                a_suspension_ends_every_session,
                no_session_concurrent_with_a_suspension_stays_live,
                the_number_of_live_sessions_is_limited,
                the_last_active_operator_cannot_be_removed,
                one_of_several_operators_dismissing_each_other_remains,
                one_of_several_operators_leaving_at_once_remains,
            }
            erasure {
                an_erased_user_cannot_log_in_and_is_not_listed,
                receipts_of_an_erased_profile_are_stale,
                a_user_with_money_is_not_erased,
                a_user_is_erased_once,
                erasures_never_deadlock_with_concurrent_operations,
                an_erasure_deletes_blocks_in_both_directions,
                no_block_outlives_an_erasure,
                an_unknown_or_erased_user_is_issued_no_challenge,
            }
            blocks {
                a_blocked_guest_makes_no_request,
                a_repeated_block_keeps_its_first_time,
                blocks_are_listed_newest_first,
            }
            provider_messages {
                provider_messages_read_back_as_they_were_received,
                a_message_is_kept_once,
                a_message_sent_in_parallel_is_kept_once,
                unresolved_messages_are_bounded,
                the_bound_is_exceeded_by_concurrent_messages_at_most,
                messages_are_listed_unresolved_first,
                a_message_is_resolved_once,
                one_of_many_concurrent_resolutions_succeeds,
            }
            endpoint_security {
                the_end_of_all_sessions_disables_own_endpoints,
                a_reused_token_disables_what_its_session_set,
                an_ended_session_sets_no_url,
                a_key_creates_one_endpoint,
            }
            webhook_endpoints {
                an_endpoint_reads_back_as_it_was_added,
                the_endpoints_of_an_owner_are_limited_for_each_feed,
                endpoints_are_listed_last_added_first,
                settings_of_an_endpoint_are_changed,
                secrets_are_rotated_and_sealed_anew,
                one_range_is_replayed_at_a_time,
                no_endpoint_outlives_an_erasure,
            }
            webhook_deliveries {
                every_event_arrives_whatever_receivers_and_servers_do,
            }
            webhook_turns {
                an_endpoint_is_leased_by_one_server_at_a_time,
                a_lease_from_a_clock_that_was_ahead_does_not_count,
                a_replaced_lease_records_nothing,
                operations_are_work_for_the_endpoints_that_they_concern,
                an_endpoint_has_work_only_while_its_owner_may_receive,
                replays_and_due_deliveries_are_work,
                failed_deliveries_are_due_at_their_times,
                deliveries_that_were_given_up_are_repeated_on_demand,
                the_newest_deliveries_that_were_given_up_are_kept,
                attempts_are_listed_newest_first,
                the_newest_attempts_are_kept,
                a_turn_disables_an_endpoint_that_is_active,
            }
            ratings {
                a_rating_counts_once_for_its_dj,
                concurrent_first_ratings_count_once,
                a_rating_survives_a_refund_and_an_erasure,
                ratings_are_exported_to_their_guest,
            }
            personal_data {
                money_and_requests_are_exported_completely,
                account_records_are_exported_completely,
                operations_about_a_user_are_exported,
                concurrent_additions_and_deletions_hide_no_record,
            }
            security_log {
                events_read_back_last_added_first,
                events_are_filtered_by_user_and_kind,
                concurrent_events_are_all_stored,
                each_change_by_an_operator_records_one_event,
                a_change_sent_in_parallel_records_one_event,
                a_purge_deletes_events_older_than_a_year,
            }
            ids {
                allocated_ids_are_distinct,
            }
            audit {
                an_empty_ledger_is_consistent,
                a_consistent_ledger_passes_the_audit,
                an_audit_reports_its_progress,
                an_audit_of_a_ledger_in_use_reports_no_finding,
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
    fn every_promise_is_listed_in_the_macro() {
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
            ("positions", include_str!("positions.rs")),
            ("provider_messages", include_str!("provider_messages.rs")),
            ("ratings", include_str!("ratings.rs")),
            ("receipts", include_str!("receipts.rs")),
            ("references", include_str!("references.rs")),
            ("requests", include_str!("requests.rs")),
            ("reversals", include_str!("reversals.rs")),
            ("security_log", include_str!("security_log.rs")),
            ("sessions", include_str!("sessions.rs")),
            ("status_change", include_str!("status_change.rs")),
            ("suspense", include_str!("suspense.rs")),
            ("suspensions", include_str!("suspensions.rs")),
            ("wallets", include_str!("wallets.rs")),
            ("endpoint_security", include_str!("endpoint_security.rs")),
            ("webhook_deliveries", include_str!("webhook_deliveries.rs")),
            ("webhook_endpoints", include_str!("webhook_endpoints.rs")),
            ("webhook_turns", include_str!("webhook_turns.rs")),
        ] {
            let promises = text.lines().filter_map(|line| line.strip_prefix("pub async fn "));
            for promise in promises.filter_map(|line| line.split_once('(')).map(|(name, _)| name) {
                assert!(named.contains(promise), "{file}::{promise} is not named in store_contract!");
            }
        }
    }
}
