//! The store contract on a database file, with a data directory for each test.

#![allow(clippy::expect_used, reason = "a test without its store has failed")]

use std::sync::{Arc, Mutex};

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Store;
use cuepoint_store_contract::{Fixture, promises};
use cuepoint_store_sqlite::SqliteStore;
use cuepoint_store_sqlite::testing::TestDirectory;
use futures_util::future::BoxFuture;

/// A store in its own data directory.
struct Opened {
    store: Mutex<Arc<dyn Store>>,
    directory: TestDirectory,
}

impl Fixture for Opened {
    fn store(&self) -> Arc<dyn Store> {
        Arc::clone(&self.store.lock().expect("the store"))
    }

    /// Closes the previous store first, since one server uses a directory at a time.
    fn reopen(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(async {
            self.store().close().await;
            let store = open(&self.directory);
            *self.store.lock().expect("the store") = Arc::clone(&store);
            store
        })
    }
}

fn open(directory: &TestDirectory) -> Arc<dyn Store> {
    let currency = Currency::new("USD", 2).expect("a currency");
    Arc::new(SqliteStore::open(directory.path(), currency).expect("a store"))
}

async fn store() -> Opened {
    let directory = TestDirectory::create();
    Opened { store: Mutex::new(open(&directory)), directory }
}

// The promises of the ports that are implemented so far; `store_contract!` replaces the list.
promises! { store;
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
        released_money_pays_no_debt,
        operations_are_audited_by_their_own_posting_rules,
        an_abandoned_apply_is_applied_once_by_its_retry,
    }
    keys {
        a_key_replays_its_first_answer,
        a_key_with_another_body_is_refused,
        keys_of_different_scopes_are_different,
        a_refusal_uses_up_no_key,
        a_key_is_kept_for_seven_days,
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
        a_pending_topup_of_an_erased_user_fails_when_its_money_arrives,
    }
    receipts {
        receipts_of_requests_read_back,
        receipts_of_withdrawals_read_back,
        receipts_of_topups_and_adjustments_read_back,
        receipts_of_profiles_read_back,
        receipts_of_keys_read_back,
    }
    people {
        a_registration_creates_a_user_and_a_wallet,
        an_email_is_unique_regardless_of_letter_case,
        one_of_many_concurrent_registrations_gets_an_email,
        a_profile_reads_back_as_it_was_changed,
        djs_are_listed_newest_first,
    }
    sessions {
        a_token_is_exchanged_for_the_next,
        a_used_token_ends_its_session,
        racing_exchanges_without_a_common_key_end_the_session,
        an_expired_token_is_refused_and_ends_no_session,
        a_reused_expired_token_still_ends_its_session,
        a_session_is_ended_by_any_of_its_tokens,
        sessions_are_listed_newest_first,
        a_user_cannot_end_the_session_of_another,
        all_other_sessions_are_ended,
        ended_sessions_are_listed_since_a_time,
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
        a_refused_refresh_records_no_network,
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
        challenges_per_address_and_hour_are_limited_across_users,
        a_password_reset_ends_every_session,
        one_of_many_concurrent_password_resets_succeeds,
    }
    code_quotas {
        concurrent_codes_are_counted_exactly,
        codes_count_under_every_key_and_the_longest_wait_is_reported,
    }
    status_change {
        an_account_status_reads_back_as_it_was_changed,
        account_statuses_are_listed_since_a_time,
        concurrent_profile_and_status_changes_lose_no_update,
    }
    suspensions {
        a_suspension_ends_every_session,
        no_session_concurrent_with_a_suspension_stays_live,
        the_number_of_live_sessions_is_limited,
        one_of_several_operators_dismissing_each_other_remains,
    }
    blocks {
        a_blocked_guest_makes_no_request,
        a_repeated_block_keeps_its_first_time,
        blocks_are_listed_newest_first,
    }
    security_log {
        events_read_back_last_added_first,
        events_are_filtered_by_user_and_kind,
        concurrent_events_are_all_stored,
        each_change_by_an_operator_records_one_event,
        a_change_sent_in_parallel_records_one_event,
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
