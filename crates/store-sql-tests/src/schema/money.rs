//! Rows about money that violate one rule each: wallets, requests, withdrawals, top-ups and the ledger.

use super::Violation;
use super::rows::{ENTRY, KEY, POSTING, REQUEST, TOPUP, WALLET, WITHDRAWAL};

/// The rows.
pub(super) const MONEY: &[Violation] = &[
    (WALLET, "available = -0.01 WHERE user_id = 2", "wallets_available_check"),
    (WALLET, "held = -0.01 WHERE user_id = 2", "wallets_held_check"),
    (WALLET, "owed = -0.01 WHERE user_id = 2", "wallets_owed_check"),
    (WALLET, "available = 1 WHERE user_id = 1", "wallets_without_entries_are_empty"),
    (WALLET, "head = {bytes} WHERE user_id = 1", "wallets_head_check"),
    (
        REQUEST,
        "(3, 1, 1, 't', 'a', 'popular', 'https://x', 9, 'rejected', NULL, {now}, NULL, {now})",
        "music_requests_are_made_of_others",
    ),
    (
        REQUEST,
        "(3, 2, 9, 't', 'a', 'popular', 'https://x', 9, 'rejected', NULL, {now}, NULL, {now})",
        "music_requests_dj_id_fkey",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'obscure', 'https://x', 9, 'rejected', NULL, {now}, NULL, {now})",
        "music_requests_artist_type_check",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', -1, 'rejected', NULL, {now}, NULL, {now})",
        "music_requests_fee_check",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'lost', NULL, {now}, NULL, {now})",
        "music_requests_status_check",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'pending', NULL, {now}, NULL, {now})",
        "music_requests_expire_while_open",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'expired', {now}, {now}, NULL, {now})",
        "music_requests_expire_while_open",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'played', NULL, {now}, NULL, {now})",
        "music_requests_commission_once_played",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'rejected', NULL, {now}, 0, {now})",
        "music_requests_commission_once_played",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'played', NULL, {now}, 10, {now})",
        "music_requests_commission_within_fee",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'pending', {now}, {now} + {interval 1 second}, NULL, {now})",
        "music_requests_start_unchanged",
    ),
    (
        WITHDRAWAL,
        "(2, 2, 0, 'w', 'USDT', 'TRC20', 'pending', NULL, {now}, {now})",
        "withdrawals_amount_check",
    ),
    ("", "UPDATE withdrawals SET approved_at = NULL WHERE id = 8", "withdrawals_approvals_have_times"),
    ("", "UPDATE withdrawals SET second_approved_at = NULL WHERE id = 9", "withdrawals_approvals_have_times"),
    (
        "",
        "UPDATE withdrawals SET approved_by = NULL, approved_at = NULL WHERE id = 9",
        "withdrawals_second_approval_follows_first",
    ),
    ("", "UPDATE withdrawals SET approved_by = user_id WHERE id = 8", "withdrawals_approved_by_two_others"),
    (
        "",
        "UPDATE withdrawals SET second_approved_by = user_id WHERE id = 9",
        "withdrawals_approved_by_two_others",
    ),
    (
        "",
        "UPDATE withdrawals SET second_approved_by = approved_by WHERE id = 9",
        "withdrawals_approved_by_two_others",
    ),
    ("", "UPDATE withdrawals SET status = 'pending' WHERE id = 9", "withdrawals_pending_have_one_approval"),
    (
        WITHDRAWAL,
        "(2, 9, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, {now}, {now})",
        "withdrawals_user_id_fkey",
    ),
    (WITHDRAWAL, "(2, 2, 1, 'w', 'USDT', 'TRC20', 'lost', NULL, {now}, {now})", "withdrawals_status_check"),
    (
        WITHDRAWAL,
        "(2, 2, 1, 'w', 'USDT', 'TRC20', 'broadcast', NULL, {now}, {now})",
        "withdrawals_sent_have_txid",
    ),
    (
        WITHDRAWAL,
        "(2, 2, 1, 'w', 'USDT', 'TRC20', 'pending', 'x', {now}, {now})",
        "withdrawals_unsent_have_none",
    ),
    (
        WITHDRAWAL,
        "(2, 2, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, {now}, {now} - {interval 1 microsecond})",
        "withdrawals_change_after_creation",
    ),
    ("", "UPDATE withdrawals SET attempts = 1 WHERE id = 1", "withdrawals_sent_while_processing"),
    ("", "UPDATE withdrawals SET retry_at = {now} WHERE id = 1", "withdrawals_sent_while_processing"),
    (
        "",
        "UPDATE withdrawals SET status = 'processing', attempts = -1 WHERE id = 1",
        "withdrawals_attempts_check",
    ),
    (
        "",
        "UPDATE withdrawals SET reference = {id 1} WHERE id = 9",
        "withdrawals_reference_key: withdrawals.reference",
    ),
    ("", "UPDATE topups SET reference = {id 1} WHERE id = 9", "topups_reference_key: topups.reference"),
    ("", "UPDATE topups SET attempts = -1 WHERE id = 1", "topups_attempts_check"),
    ("", "UPDATE topups SET order_at = {now} WHERE id = 1", "topups_ordered_with_attempts"),
    ("", "UPDATE topups SET payment_url = {repeat é 2049} WHERE id = 1", "topups_payment_url_check"),
    ("", "UPDATE topups SET page_code = 'K7TW3' WHERE id = 1", "topups_page_code_check"),
    ("", "UPDATE topups SET page_code = 'k7tw3m' WHERE id = 1", "topups_page_code_check"),
    (TOPUP, "(2, 2, 0, 'pending', NULL, {now}, {now})", "topups_amount_check"),
    (TOPUP, "(2, 2, 1, 'lost', NULL, {now}, {now})", "topups_status_check"),
    ("", "UPDATE topups SET status = 'reversed' WHERE id = 11", "topups_suspended_have_failed"),
    ("", "UPDATE topups SET suspense_at = NULL WHERE id = 11", "topups_suspended_have_failed"),
    ("", "UPDATE topups SET settled_by = NULL WHERE id = 11", "topups_settled_were_suspended"),
    ("", "UPDATE topups SET settled_by = 0 WHERE id = 11", "topups_settled_by_check"),
    ("", "UPDATE topups SET settled_reason = '' WHERE id = 11", "topups_settled_reason_check"),
    (
        "",
        "UPDATE topups SET settled_at = suspense_at - {interval 1 microsecond} WHERE id = 11",
        "topups_settled_were_suspended",
    ),
    (TOPUP, "(2, 9, 1, 'pending', NULL, {now}, {now})", "topups_user_id_fkey"),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt) VALUES ({id 1}, 'adjust', {now}, '{}')",
        "operations_pkey: operations.id",
    ),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt) VALUES ({new id}, 'adjust', {now}, '[]')",
        "operations_receipt_check",
    ),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt, posting_rules) VALUES ({new id}, 'adjust', {now}, '{}', 0)",
        "operations_posting_rules_check",
    ),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt, position) \
        VALUES ({new id}, 'adjust', {now}, '{}', 9), ({new id}, 'adjust', {now}, '{}', 9)",
        "operations_position_key: operations.position",
    ),
    (KEY, "({zero}, {link}, {id 2}, {now})", "idempotency_keys_pkey: idempotency_keys.scope"),
    (KEY, "({bytes}, {link}, {id 2}, {now})", "idempotency_keys_scope_check"),
    (
        ENTRY,
        "(2, 1, {id 2}, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, {now}, {zero}, {link})",
        "ledger_entries_pkey: ledger_entries.wallet_id, ledger_entries.seq",
    ),
    (
        ENTRY,
        "(2, 2, {id 1}, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, {now}, {link}, {link})",
        "ledger_entries_once_per_operation: ledger_entries.operation_id, ledger_entries.wallet_id",
    ),
    (
        ENTRY,
        "(2, 2, {id 2}, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, {now}, {zero}, {link})",
        "ledger_entries_chain_starts_at_one",
    ),
    (
        ENTRY,
        "(2, 2, {id 2}, 'topup', 'topup', 1, 1, 0, 0, -1, 0, 0, {now}, {link}, {link})",
        "ledger_entries_available_after_check",
    ),
    (
        ENTRY,
        "(2, 2, {id 2}, 'topup', 'topup', 1, 1, 0, 0, 0, -1, 0, {now}, {link}, {link})",
        "ledger_entries_held_after_check",
    ),
    (
        ENTRY,
        "(2, 2, {id 2}, 'topup', 'topup', 1, 1, 0, 0, 0, 0, -1, {now}, {link}, {link})",
        "ledger_entries_owed_after_check",
    ),
    (
        ENTRY,
        "(2, 2, {id 2}, 'gift', 'topup', 1, 1, 0, 0, 1, 0, 0, {now}, {link}, {link})",
        "ledger_entries_kind_check",
    ),
    (
        ENTRY,
        "(2, 2, {id 2}, 'topup', 'song', 1, 1, 0, 0, 1, 0, 0, {now}, {link}, {link})",
        "ledger_entries_reference_kind_check",
    ),
    (
        ENTRY,
        "(2, 2, {new id}, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, {now}, {link}, {link})",
        "ledger_entries_operation_id_fkey",
    ),
    (
        ENTRY,
        "(9, 1, {id 1}, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, {now}, {zero}, {link})",
        "ledger_entries_wallet_id_fkey",
    ),
    (POSTING, "({id 1}, 'outside_topups', 0, {now})", "postings_amount_check"),
    (POSTING, "({id 1}, 'elsewhere', 1, {now})", "postings_account_check"),
    ("", "INSERT INTO ratings VALUES (1, 0, {now})", "ratings_stars_check"),
    ("", "INSERT INTO ratings VALUES (1, 6, {now})", "ratings_stars_check"),
    ("", "INSERT INTO ratings VALUES (1, 1, {now}), (1, 2, {now})", "ratings_pkey: ratings.request_id"),
    ("", "INSERT INTO ratings VALUES (99, 1, {now})", "ratings_request_id_fkey"),
    ("", "INSERT INTO position_gaps VALUES (-1, 5)", "position_gaps_last_check"),
    ("", "INSERT INTO position_gaps VALUES (5, 5)", "position_gaps_is_a_range"),
    ("", "INSERT INTO position_gaps VALUES (5, 6), (5, 7)", "position_gaps_pkey: position_gaps.last"),
];
