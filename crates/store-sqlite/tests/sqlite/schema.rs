//! The tables refuse rows that no rule allows, from any client.

use cuepoint_store_sqlite::testing::TestDirectory;
use diesel::connection::SimpleConnection;

const USER: &str = "INSERT INTO users (id, name, email, email_folded, email_verified, phone_verified, \
    password_hash, role, is_dj, online, fee_upcoming_artist, fee_popular_song, played, rating_stars, \
    rating_count, created_at) VALUES ";
const REQUEST: &str = "INSERT INTO music_requests (id, requester_id, dj_id, song_title, artist_name, artist_type, \
    music_url, fee, status, expires_at, changed_at, commission, created_at) VALUES ";
const WITHDRAWAL: &str = "INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, status, \
    txid, created_at, updated_at) VALUES ";
const TOPUP: &str =
    "INSERT INTO topups (id, user_id, amount, status, payment_url, created_at, updated_at) VALUES ";
const ENTRY: &str = "INSERT INTO ledger_entries (wallet_id, seq, operation_id, kind, reference_kind, reference_id, \
    available_change, held_change, owed_change, available_after, held_after, owed_after, at, previous, hash) VALUES ";
const POSTING: &str = "INSERT INTO postings (operation_id, account, amount, at) VALUES ";
const WALLET: &str = "UPDATE wallets SET ";
const SESSION: &str =
    "INSERT INTO sessions (id, user_id, began_at, used_at, expires_at, address, agent) VALUES ";
const TOKEN: &str = "INSERT INTO refresh_tokens (hash, session_id, issued_at, expires_at, used_at) VALUES ";
const CHALLENGE: &str =
    "INSERT INTO challenges (user_id, purpose, target, hash, issued_at, attempts, ended_at) VALUES ";
const MOVING: &str =
    "INSERT INTO challenges (user_id, purpose, target, hash, issued_at, attempts, address) VALUES ";
const NETWORK: &str = "INSERT INTO login_networks (user_id, network, seen_at) VALUES ";
const PHONE_CODE: &str = "INSERT INTO phone_codes (number, network, sent_at) VALUES ";
const BLOCK: &str = "INSERT INTO blocks (dj_id, guest_id, at) VALUES ";
const EVENT: &str = "INSERT INTO security_events (kind, user_id, session_id, address, detail, at) VALUES ";
const MESSAGE: &str = "INSERT INTO provider_messages (source, webhook_id, kind, reason_code, reference, row_id, txid, \
    received_at, resolved_at, resolved_by, resolution) VALUES ";
const ENDPOINT: &str = "INSERT INTO webhook_endpoints (owner_id, feed, url, types, description, state, disabled_at, \
    disabled_reason, secrets, cursor, replay_after, replay_until, created_at) VALUES ";
const KEYED: &str = "INSERT INTO webhook_endpoints (owner_id, feed, url, state, secrets, cursor, created_at, \
    creation_key, creation_body) VALUES ";
const DELIVERY: &str =
    "INSERT INTO webhook_deliveries (endpoint_id, position, attempts, next_at, failed_at) VALUES ";
const ATTEMPT: &str = "INSERT INTO webhook_attempts (endpoint_id, number, position, event_type, attempt, status, \
    error, milliseconds, answer, at) VALUES ";
const KEY: &str = "INSERT INTO idempotency_keys (scope, fingerprint, operation_id, at) VALUES ";

/// Expands the abbreviations of common values in the cases below, and writes them as SQLite does.
pub(crate) fn expanded(case: &str) -> String {
    let hex = |digits: &str| format!("x'{}'", digits.repeat(32));
    let mut sql = case
        .replace("$zero", &hex("00"))
        .replace("$link", &hex("11"))
        .replace("$op1", "x'00000000000000000000000000000001'")
        .replace("$op2", "x'00000000000000000000000000000002'");
    for (interval, micros) in [("364 days", 364), ("366 days", 366)] {
        let ago = format!("now() - interval '{interval}'");
        sql = sql.replace(&ago, &format!("((unixepoch() - {micros} * 86400) * 1000000 - 1)"));
    }
    sql.replace("now()", "(unixepoch() * 1000000)")
}

/// Rows that every table accepts: a DJ and a guest with a topped-up wallet, and one of each other entity.
pub(crate) const SOUND: &[(&str, &str)] = &[
    (
        USER,
        "(1, 'Dj', 'dj@example.com', 'dj@example.com', true, false, 'h', 'member', true, true, 5, 9, 0, 9, 2, now())",
    ),
    (
        USER,
        "(2, 'Ada', 'Ada@Example.com', 'ada@example.com', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, now())",
    ),
    (
        "",
        "INSERT INTO wallets (user_id, available, held, owed, seq, last_at, head) \
        VALUES (1, 0, 0, 0, 0, now(), $zero), (2, 10, 0, 0, 1, now(), $link)",
    ),
    (
        "",
        "INSERT INTO operations (id, kind, actor_user_id, at, receipt, posting_rules) \
        VALUES ($op1, 'open_topup', 2, now(), '{}', 2), ($op2, 'adjust', NULL, now(), '{}', NULL)",
    ),
    (KEY, "($zero, $zero, $op1, now())"),
    (ENTRY, "(2, 1, $op1, 'topup', 'topup', 1, 10, 0, 0, 10, 0, 0, now(), $zero, $link)"),
    (POSTING, "($op1, 'outside_topups', -10, now())"),
    (POSTING, "($op1, 'outside_suspense', 10, now())"),
    (ENTRY, "(1, 1, $op1, 'chargeback', 'topup', 1, 0, 0, 5, 0, 0, 5, now(), $zero, $link)"),
    (REQUEST, "(1, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'pending', now(), now(), NULL, now())"),
    (REQUEST, "(2, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'played', NULL, now(), 9, now())"),
    (WITHDRAWAL, "(1, 2, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, now(), now())"),
    (TOPUP, "(1, 2, 10, 'confirmed', NULL, now(), now())"),
    (TOPUP, "(10, 2, 10, 'reversed', NULL, now(), now()), (11, 2, 10, 'failed', NULL, now(), now())"),
    ("", "UPDATE topups SET suspense_operation = $op1, suspense_at = now() WHERE id = 11"),
    (
        "",
        "UPDATE topups SET settled_operation = $op2, settled_at = now(), settled_by = 2, settled_reason = 'x' \
        WHERE id = 11",
    ),
    (
        "",
        "UPDATE withdrawals SET reference = $op1 WHERE id = 1; UPDATE topups SET reference = $op1 WHERE id = 1",
    ),
    // As servers of an earlier version open them: any number may lack a reference.
    (WITHDRAWAL, "(8, 2, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, now(), now())"),
    (WITHDRAWAL, "(9, 2, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, now(), now())"),
    (TOPUP, "(8, 2, 10, 'confirmed', NULL, now(), now()), (9, 2, 10, 'confirmed', NULL, now(), now())"),
    (
        "",
        "UPDATE topups SET attempts = 1, order_at = now(), payment_url = replace(hex(zeroblob(2048)), '00', 'é') WHERE id = 8",
    ),
    (SESSION, "(1, 2, now(), now(), now(), '2001:db8::1', 'Browser')"),
    (NETWORK, "(2, '192.0.2.7/32', now())"),
    (TOKEN, "($zero, 1, now(), now(), NULL)"),
    (CHALLENGE, "(2, 'email', 'ada@example.com', $zero, now(), 0, NULL)"),
    (CHALLENGE, "(2, 'email', 'ada@example.com', $zero, now(), 5, now())"),
    (MOVING, "(2, 'email_change', 'ada@example.com', $zero, now(), 0, 'Ada@example.com')"),
    (MOVING, "(2, 'email_restore', 'ada@example.com', $zero, now(), 0, 'Ada@example.com')"),
    (PHONE_CODE, "($zero, $link, now())"),
    (BLOCK, "(1, 2, now())"),
    (
        EVENT,
        "('logged_in', 2, 1, '192.0.2.1', replace(hex(zeroblob(1024)), '00', 'é'), now() - interval '364 days')",
    ),
    (
        MESSAGE,
        "('payouts', 'm1', 'k', 'later_code', '5', NULL, replace(hex(zeroblob(512)), '00', 'x'), now(), NULL, NULL, NULL)",
    ),
    (
        MESSAGE,
        "('topups', 'm1', 'k', 'c', '5', 5, NULL, now(), now(), 2, replace(hex(zeroblob(255)), '00', 'é'))",
    ),
    (
        "",
        "INSERT INTO users (id, name, email, email_folded, email_verified, phone_verified, password_hash, role, \
        is_dj, online, fee_upcoming_artist, fee_popular_song, played, rating_stars, rating_count, created_at, \
        suspended_at, standing_at, erased_at) VALUES (5, 'Erased', 'erased-5', 'erased-5', false, false, '!', \
        'auditor', true, false, 0, 0, 7, 9, 2, now(), now(), now(), now())",
    ),
    // Approvals: one while the withdrawal is pending, then two, by different operators.
    (
        "",
        "UPDATE withdrawals SET approved_by = 1, approved_at = now() WHERE id = 8; UPDATE withdrawals SET \
        status = 'approved', approved_by = 1, approved_at = now(), second_approved_by = 5, \
        second_approved_at = now() WHERE id = 9",
    ),
    (
        ENDPOINT,
        "(2, 'own', replace(hex(zeroblob(2048)), '00', 'x'), NULL, NULL, 'active', NULL, NULL, 's', 0, 3, 3, now())",
    ),
    (
        ENDPOINT,
        "(2, 'all', 'u', 'a.b,c.d', replace(hex(zeroblob(255)), '00', 'é'), 'paused', NULL, NULL, 's', 5, NULL, NULL, now())",
    ),
    (ENDPOINT, "(1, 'own', 'u', '', NULL, 'disabled', now(), 'gone', 's', 5, NULL, NULL, now())"),
    (DELIVERY, "(1, 7, 0, now(), now()), (1, 8, 10, NULL, now())"),
    (ATTEMPT, "(1, 1, 7, 'a.b', 1, 204, NULL, 0, replace(hex(zeroblob(1024)), '00', 'x'), now())"),
    (ATTEMPT, "(1, 2, NULL, NULL, 1, NULL, 'timed_out', 15000, NULL, now())"),
];

/// Rows that violate one rule each, and a part of the message, which names the violated constraint.
const UNSOUND: &[(&str, &str, &str)] = &[
    (
        USER,
        "(3, 'Ada', 'ADA@example.com', 'ada@example.com', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, now())",
        "UNIQUE constraint failed: users.email_folded",
    ),
    (
        USER,
        "(3, 'Bo', 'Bo@example.com', 'Bo@example.com', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, now())",
        "users_email_folded_is_lower",
    ),
    (
        USER,
        "(0, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, now())",
        "users_id_check",
    ),
    (
        USER,
        "(3, '', 'b@x', 'b@x', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, now())",
        "users_name_check",
    ),
    (
        USER,
        "(3, replace(hex(zeroblob(256)), '00', 'é'), 'b@x', 'b@x', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, now())",
        "users_name_check",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'admin', false, false, 0, 0, 0, 0, 0, now())",
        "users_role_check",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', false, true, 0, 0, 0, 0, 0, now())",
        "users_only_djs_have_prices",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', true, true, -1, 0, 0, 0, 0, now())",
        "users_fee_upcoming_artist_check",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', true, true, 0, -1, 0, 0, 0, now())",
        "users_fee_popular_song_check",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', true, true, 0, 0, 0, 6, 1, now())",
        "users_stars_fit_count",
    ),
    ("", "UPDATE users SET latitude = 1 WHERE id = 1", "users_place_is_whole"),
    ("", "UPDATE users SET latitude = 91, longitude = 0 WHERE id = 1", "users_latitude_check"),
    ("", "UPDATE users SET latitude = 'NaN', longitude = 0 WHERE id = 1", "cannot store TEXT value"),
    ("", "UPDATE users SET radius = 20039 WHERE id = 1", "users_radius_check"),
    ("", "DELETE FROM users WHERE id = 2", "FOREIGN KEY constraint failed"),
    (WALLET, "available = -0.01 WHERE user_id = 2", "wallets_available_check"),
    (WALLET, "held = -0.01 WHERE user_id = 2", "wallets_held_check"),
    (WALLET, "owed = -0.01 WHERE user_id = 2", "wallets_owed_check"),
    (WALLET, "available = 1 WHERE user_id = 1", "wallets_without_entries_are_empty"),
    (WALLET, "head = x'' WHERE user_id = 1", "wallets_head_check"),
    ("", "DELETE FROM wallets WHERE user_id = 2", "FOREIGN KEY constraint failed"),
    (
        REQUEST,
        "(3, 1, 1, 't', 'a', 'popular', 'https://x', 9, 'rejected', NULL, now(), NULL, now())",
        "music_requests_are_made_of_others",
    ),
    (
        REQUEST,
        "(3, 2, 9, 't', 'a', 'popular', 'https://x', 9, 'rejected', NULL, now(), NULL, now())",
        "FOREIGN KEY constraint failed",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'obscure', 'https://x', 9, 'rejected', NULL, now(), NULL, now())",
        "music_requests_artist_type_check",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', -1, 'rejected', NULL, now(), NULL, now())",
        "music_requests_fee_check",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'lost', NULL, now(), NULL, now())",
        "music_requests_status_check",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'pending', NULL, now(), NULL, now())",
        "music_requests_expire_while_open",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'expired', now(), now(), NULL, now())",
        "music_requests_expire_while_open",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'played', NULL, now(), NULL, now())",
        "music_requests_commission_once_played",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'rejected', NULL, now(), 0, now())",
        "music_requests_commission_once_played",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'played', NULL, now(), 10, now())",
        "music_requests_commission_within_fee",
    ),
    (
        REQUEST,
        "(3, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'pending', now(), now() + '1 s', NULL, now())",
        "music_requests_start_unchanged",
    ),
    (
        WITHDRAWAL,
        "(2, 2, 0, 'w', 'USDT', 'TRC20', 'pending', NULL, now(), now())",
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
    (WITHDRAWAL, "(2, 2, 1, 'w', 'USDT', 'TRC20', 'lost', NULL, now(), now())", "withdrawals_status_check"),
    (
        WITHDRAWAL,
        "(2, 2, 1, 'w', 'USDT', 'TRC20', 'broadcast', NULL, now(), now())",
        "withdrawals_sent_have_txid",
    ),
    (
        WITHDRAWAL,
        "(2, 2, 1, 'w', 'USDT', 'TRC20', 'pending', 'x', now(), now())",
        "withdrawals_unsent_have_none",
    ),
    (
        WITHDRAWAL,
        "(2, 2, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, now(), now() - 1)",
        "withdrawals_change_after_creation",
    ),
    ("", "UPDATE withdrawals SET attempts = 1 WHERE id = 1", "withdrawals_sent_while_processing"),
    ("", "UPDATE withdrawals SET retry_at = now() WHERE id = 1", "withdrawals_sent_while_processing"),
    (
        "",
        "UPDATE withdrawals SET status = 'processing', attempts = -1 WHERE id = 1",
        "withdrawals_attempts_check",
    ),
    (
        "",
        "UPDATE withdrawals SET reference = $op1 WHERE id = 9",
        "UNIQUE constraint failed: withdrawals.reference",
    ),
    ("", "UPDATE topups SET reference = $op1 WHERE id = 9", "UNIQUE constraint failed: topups.reference"),
    ("", "UPDATE topups SET attempts = -1 WHERE id = 1", "topups_attempts_check"),
    ("", "UPDATE topups SET order_at = now() WHERE id = 1", "topups_ordered_with_attempts"),
    (
        "",
        "UPDATE topups SET payment_url = replace(hex(zeroblob(2049)), '00', 'é') WHERE id = 1",
        "topups_payment_url_check",
    ),
    (TOPUP, "(2, 2, 0, 'pending', NULL, now(), now())", "topups_amount_check"),
    (TOPUP, "(2, 2, 1, 'lost', NULL, now(), now())", "topups_status_check"),
    ("", "UPDATE topups SET status = 'reversed' WHERE id = 11", "topups_suspended_have_failed"),
    ("", "UPDATE topups SET suspense_at = NULL WHERE id = 11", "topups_suspended_have_failed"),
    ("", "UPDATE topups SET settled_by = NULL WHERE id = 11", "topups_settled_were_suspended"),
    ("", "UPDATE topups SET settled_by = 0 WHERE id = 11", "topups_settled_by_check"),
    ("", "UPDATE topups SET settled_reason = '' WHERE id = 11", "topups_settled_reason_check"),
    ("", "UPDATE topups SET settled_at = suspense_at - 1 WHERE id = 11", "topups_settled_were_suspended"),
    (TOPUP, "(2, 9, 1, 'pending', NULL, now(), now())", "FOREIGN KEY constraint failed"),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt) VALUES ($op1, 'adjust', now(), '{}')",
        "UNIQUE constraint failed: operations.id",
    ),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt) VALUES (randomblob(16), 'adjust', now(), '[]')",
        "operations_receipt_check",
    ),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt, posting_rules) \
        VALUES (randomblob(16), 'adjust', now(), '{}', 0)",
        "operations_posting_rules_check",
    ),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt, position) \
        VALUES (randomblob(16), 'adjust', now(), '{}', 9), (randomblob(16), 'adjust', now(), '{}', 9)",
        "UNIQUE constraint failed: operations.position",
    ),
    ("", "INSERT INTO ratings VALUES (1, 0, now())", "ratings_stars_check"),
    ("", "INSERT INTO ratings VALUES (1, 6, now())", "ratings_stars_check"),
    (
        "",
        "INSERT INTO ratings VALUES (1, 1, now()), (1, 2, now())",
        "UNIQUE constraint failed: ratings.request_id",
    ),
    ("", "INSERT INTO ratings VALUES (99, 1, now())", "FOREIGN KEY constraint failed"),
    ("", "INSERT INTO position_gaps VALUES (-1, 5)", "position_gaps_last_check"),
    ("", "INSERT INTO position_gaps VALUES (5, 5)", "position_gaps_is_a_range"),
    (KEY, "($zero, $link, $op2, now())", "UNIQUE constraint failed: idempotency_keys.scope"),
    (KEY, "(x'', $link, $op2, now())", "idempotency_keys_scope_check"),
    (
        ENTRY,
        "(2, 1, $op2, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, now(), $zero, $link)",
        "UNIQUE constraint failed: ledger_entries.wallet_id, ledger_entries.seq",
    ),
    (
        ENTRY,
        "(2, 2, $op1, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, now(), $link, $link)",
        "UNIQUE constraint failed: ledger_entries.operation_id, ledger_entries.wallet_id",
    ),
    (
        ENTRY,
        "(2, 2, $op2, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, now(), $zero, $link)",
        "ledger_entries_chain_starts_at_one",
    ),
    (
        ENTRY,
        "(2, 2, $op2, 'topup', 'topup', 1, 1, 0, 0, -1, 0, 0, now(), $link, $link)",
        "ledger_entries_available_after_check",
    ),
    (
        ENTRY,
        "(2, 2, $op2, 'topup', 'topup', 1, 1, 0, 0, 0, -1, 0, now(), $link, $link)",
        "ledger_entries_held_after_check",
    ),
    (
        ENTRY,
        "(2, 2, $op2, 'topup', 'topup', 1, 1, 0, 0, 0, 0, -1, now(), $link, $link)",
        "ledger_entries_owed_after_check",
    ),
    (
        ENTRY,
        "(2, 2, $op2, 'gift', 'topup', 1, 1, 0, 0, 1, 0, 0, now(), $link, $link)",
        "ledger_entries_kind_check",
    ),
    (
        ENTRY,
        "(2, 2, $op2, 'topup', 'song', 1, 1, 0, 0, 1, 0, 0, now(), $link, $link)",
        "ledger_entries_reference_kind_check",
    ),
    (
        ENTRY,
        "(2, 2, randomblob(16), 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, now(), $link, $link)",
        "FOREIGN KEY constraint failed",
    ),
    (POSTING, "($op1, 'outside_topups', 0, now())", "postings_amount_check"),
    (POSTING, "($op1, 'elsewhere', 1, now())", "postings_account_check"),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'usd', 2, 0, randomblob(16), 0, 0, NULL, NULL, NULL, NULL, NULL)",
        "deployment_currency_check",
    ),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'USD', 9, 0, randomblob(16), 0, 0, NULL, NULL, NULL, NULL, NULL)",
        "deployment_scale_check",
    ),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'USD', 2, 0, randomblob(16), 0, 0, 'x', randomblob(16), 'x', NULL, NULL)",
        "deployment_copy_state_check",
    ),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'USD', 2, 0, randomblob(16), 0, 0, 'moved', randomblob(15), 'x', NULL, NULL)",
        "deployment_copy_id_check",
    ),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'USD', 2, 0, randomblob(16), 0, 0, 'moved', randomblob(16), '', NULL, NULL)",
        "deployment_copy_target_check",
    ),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'USD', 2, 0, randomblob(16), 0, 0, NULL, NULL, NULL, randomblob(15), NULL)",
        "deployment_origin_copy_id_check",
    ),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'USD', 2, 0, randomblob(16), 0, 0, NULL, NULL, NULL, NULL, randomblob(15))",
        "deployment_begun_copy_id_check",
    ),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'USD', 2, 0, randomblob(16), 0, 0, 'moving', randomblob(16), NULL, NULL, NULL)",
        "deployment_copy_is_identified",
    ),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'USD', 2, 0, randomblob(16), 0, 0, NULL, NULL, 'x', NULL, NULL)",
        "deployment_copy_is_identified",
    ),
    (
        "",
        "INSERT INTO deployment VALUES (1, 'USD', 2, 0, randomblob(16), 0, 0, NULL, NULL, NULL, NULL, NULL); \
        INSERT INTO deployment VALUES (1, 'EUR', 2, 0, randomblob(16), 0, 0, NULL, NULL, NULL, NULL, NULL)",
        "UNIQUE constraint failed: deployment.singleton",
    ),
    (
        "",
        "INSERT INTO bootstrap_operator VALUES (1, now()); \
        INSERT INTO bootstrap_operator VALUES (1, now())",
        "UNIQUE constraint failed: bootstrap_operator.singleton",
    ),
    (
        "",
        "INSERT INTO bootstrap_operator (singleton, made_at) VALUES (false, now())",
        "bootstrap_operator_singleton_check",
    ),
    ("", "UPDATE users SET suspended_at = now() WHERE id = 1", "users_suspension_is_noted"),
    ("", "UPDATE users SET erased_at = now() WHERE id = 2", "users_erased_are_nobody"),
    ("", "UPDATE users SET password_hash = 'h' WHERE id = 5", "users_erased_are_nobody"),
    ("", "UPDATE users SET phone = '+1' WHERE id = 5", "users_erased_are_nobody"),
    ("", "UPDATE users SET email_folded = 'b@x' WHERE id = 5", "users_erased_are_nobody"),
    (SESSION, "(0, 2, now(), now(), now(), NULL, NULL)", "sessions_id_check"),
    (SESSION, "(2, 8, now(), now(), now(), NULL, NULL)", "FOREIGN KEY constraint failed"),
    (SESSION, "(2, 2, now(), now(), now(), '', NULL)", "sessions_address_check"),
    (
        SESSION,
        "(2, 2, now(), now(), now(), NULL, replace(hex(zeroblob(256)), '00', 'é'))",
        "sessions_agent_check",
    ),
    (TOKEN, "(x'', 1, now(), now(), now())", "refresh_tokens_hash_check"),
    (TOKEN, "($link, 1, now(), now(), NULL)", "UNIQUE constraint failed: refresh_tokens.session_id"),
    (TOKEN, "($link, 2, now(), now(), NULL)", "FOREIGN KEY constraint failed"),
    (
        NETWORK,
        "(2, '192.0.2.7/32', now())",
        "UNIQUE constraint failed: login_networks.user_id, login_networks.network",
    ),
    (NETWORK, "(8, '192.0.2.8/32', now())", "FOREIGN KEY constraint failed"),
    (NETWORK, "(2, '', now())", "login_networks_network_check"),
    (
        CHALLENGE,
        "(2, 'email', 'a', $link, now(), 0, NULL)",
        "UNIQUE constraint failed: challenges.user_id, challenges.purpose",
    ),
    (CHALLENGE, "(2, 'gift', 'a', $link, now(), 0, NULL)", "challenges_purpose_check"),
    (CHALLENGE, "(2, 'phone', '', $link, now(), 0, NULL)", "challenges_target_check"),
    (CHALLENGE, "(2, 'phone', 'a', x'', now(), 0, NULL)", "challenges_hash_check"),
    (CHALLENGE, "(2, 'phone', 'a', $link, now(), -1, NULL)", "challenges_attempts_check"),
    (CHALLENGE, "(2, 'email_change', 'a', $link, now(), 0, now())", "challenges_address_check"),
    (MOVING, "(2, 'phone', 'a', $link, now(), 0, 'a')", "challenges_address_check"),
    (MOVING, "(2, 'email_restore', 'a', $link, now(), 0, '')", "challenges_address_check"),
    (PHONE_CODE, "(x'', $link, now())", "phone_codes_number_check"),
    (PHONE_CODE, "($link, x'', now())", "phone_codes_network_check"),
    (BLOCK, "(1, 2, now())", "UNIQUE constraint failed: blocks.dj_id, blocks.guest_id"),
    (BLOCK, "(1, 8, now())", "FOREIGN KEY constraint failed"),
    (EVENT, "('', 2, 1, NULL, NULL, now())", "security_events_kind_check"),
    (EVENT, "('logged_in', 8, 1, NULL, NULL, now())", "FOREIGN KEY constraint failed"),
    (
        EVENT,
        "('logged_in', 2, 1, NULL, replace(hex(zeroblob(1025)), '00', 'é'), now())",
        "security_events_detail_check",
    ),
    (
        MESSAGE,
        "('payouts', 'm1', 'k', 'c', '5', NULL, NULL, now(), NULL, NULL, NULL)",
        "UNIQUE constraint failed: provider_messages.source, provider_messages.webhook_id",
    ),
    (
        MESSAGE,
        "('mail', 'm2', 'k', 'c', '5', NULL, NULL, now(), NULL, NULL, NULL)",
        "provider_messages_source_check",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, replace(hex(zeroblob(257)), '00', 'é'), now(), NULL, NULL, NULL)",
        "provider_messages_txid_check",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, NULL, now(), now(), NULL, 'r')",
        "provider_messages_are_resolved_as_a_whole",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, NULL, now(), now() - 1, 2, 'r')",
        "provider_messages_are_resolved_after_they_come",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, NULL, now(), now(), 88, 'r')",
        "FOREIGN KEY constraint failed",
    ),
    (
        ENDPOINT,
        "(9, 'own', 'u', NULL, NULL, 'active', NULL, NULL, 's', 0, NULL, NULL, now())",
        "FOREIGN KEY constraint failed",
    ),
    (
        ENDPOINT,
        "(2, 'some', 'u', NULL, NULL, 'active', NULL, NULL, 's', 0, NULL, NULL, now())",
        "webhook_endpoints_feed_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', '', NULL, NULL, 'active', NULL, NULL, 's', 0, NULL, NULL, now())",
        "webhook_endpoints_url_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, '', 'active', NULL, NULL, 's', 0, NULL, NULL, now())",
        "webhook_endpoints_description_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'lost', NULL, NULL, 's', 0, NULL, NULL, now())",
        "webhook_endpoints_state_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'disabled', now(), NULL, 's', 0, NULL, NULL, now())",
        "webhook_endpoints_are_disabled_for_a_reason",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', now(), 'gone', 's', 0, NULL, NULL, now())",
        "webhook_endpoints_are_disabled_for_a_reason",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', NULL, NULL, '', 0, NULL, NULL, now())",
        "webhook_endpoints_secrets_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', NULL, NULL, 's', -1, NULL, NULL, now())",
        "webhook_endpoints_cursor_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', NULL, NULL, 's', 0, 4, 3, now())",
        "webhook_endpoints_replay_is_a_range",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', NULL, NULL, 's', 0, NULL, 3, now())",
        "webhook_endpoints_replay_is_a_range",
    ),
    (
        KEYED,
        "(2, 'own', 'u', 'active', 's', 0, now(), x'01', zeroblob(32))",
        "webhook_endpoints_creation_key_check",
    ),
    (
        KEYED,
        "(2, 'own', 'u', 'active', 's', 0, now(), zeroblob(32), x'01')",
        "webhook_endpoints_creation_body_check",
    ),
    (
        KEYED,
        "(2, 'own', 'u', 'active', 's', 0, now(), NULL, zeroblob(32))",
        "webhook_endpoints_creation_has_both",
    ),
    (
        DELIVERY,
        "(1, 7, 1, NULL, now())",
        "UNIQUE constraint failed: webhook_deliveries.endpoint_id, webhook_deliveries.position",
    ),
    (DELIVERY, "(9, 7, 1, NULL, now())", "FOREIGN KEY constraint failed"),
    (DELIVERY, "(1, 0, 1, NULL, now())", "webhook_deliveries_position_check"),
    (DELIVERY, "(1, 9, -1, NULL, now())", "webhook_deliveries_attempts_check"),
    (
        ATTEMPT,
        "(1, 1, NULL, NULL, 1, 204, NULL, 0, NULL, now())",
        "UNIQUE constraint failed: webhook_attempts.endpoint_id, webhook_attempts.number",
    ),
    (ATTEMPT, "(9, 1, NULL, NULL, 1, 204, NULL, 0, NULL, now())", "FOREIGN KEY constraint failed"),
    (ATTEMPT, "(1, 3, NULL, NULL, 0, 204, NULL, 0, NULL, now())", "webhook_attempts_attempt_check"),
    (ATTEMPT, "(1, 3, 7, NULL, 1, 204, NULL, 0, NULL, now())", "webhook_attempts_of_events_have_both"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 204, 'answer', 0, NULL, now())", "webhook_attempts_have_one_outcome"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, NULL, NULL, 0, NULL, now())", "webhook_attempts_have_one_outcome"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 99, NULL, 0, NULL, now())", "webhook_attempts_status_check"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 204, NULL, -1, NULL, now())", "webhook_attempts_milliseconds_check"),
    (
        ATTEMPT,
        "(1, 3, NULL, NULL, 1, 204, NULL, 0, replace(hex(zeroblob(513)), '00', 'é'), now())",
        "webhook_attempts_answer_check",
    ),
];

/// Changes of append-only rows.
const HISTORY: &[&str] = &[
    "UPDATE operations SET receipt = '[]'",
    "DELETE FROM operations",
    "UPDATE ledger_entries SET available_change = 11",
    "DELETE FROM ledger_entries",
    "UPDATE postings SET amount = 11",
    "DELETE FROM postings",
    "UPDATE security_events SET detail = NULL",
    "DELETE FROM security_events",
    "UPDATE provider_messages SET resolution = 'r' WHERE resolved_at IS NOT NULL",
    "DELETE FROM provider_messages",
];

#[test]
fn every_table_refuses_invalid_rows() {
    let directory = TestDirectory::create();
    let mut connection = directory.migrated();
    for (before, row) in SOUND {
        let sql = expanded(&format!("{before}{row}"));
        connection.batch_execute(&sql).unwrap_or_else(|error| panic!("{sql}: {error}"));
    }
    for (before, row, part) in UNSOUND {
        let sql = expanded(&format!("{before}{row}"));
        let error = connection.batch_execute(&sql).expect_err(&sql).to_string();
        assert!(error.contains(part), "{sql}: {error}");
    }
    for sql in HISTORY {
        let error = connection.batch_execute(sql).expect_err(sql).to_string();
        assert!(error.ends_with("are append-only"), "{sql}: {error}");
    }
    let old = format!("{EVENT} ('logged_in', 2, 1, NULL, NULL, now() - interval '366 days')");
    connection.batch_execute(&expanded(&old)).unwrap();
    connection
        .batch_execute("DELETE FROM security_events WHERE at < (unixepoch() - 365 * 86400) * 1000000")
        .unwrap();
}

/// Forms of a sum other than the canonical integer of minor units.
const UNCANONICAL: &[&str] =
    &["", "-", "-0", "00", "01", "+1", "1.5", "1e3", " 1", "1 ", "1-", "--1", "NaN", "1_0"];

#[test]
fn sums_have_one_form() {
    let directory = TestDirectory::create();
    let mut connection = directory.migrated();
    for (before, row) in SOUND {
        connection.batch_execute(&expanded(&format!("{before}{row}"))).unwrap();
    }
    let long = "9".repeat(30);
    for text in UNCANONICAL.iter().copied().chain([long.as_str()]) {
        for (sql, constraint) in [
            (format!("UPDATE wallets SET held = '{text}' WHERE user_id = 2"), "wallets_held_check"),
            (format!("UPDATE withdrawals SET amount = '{text}' WHERE id = 1"), "withdrawals_amount_check"),
            (format!("{POSTING} ($op1, 'outside_topups', '{text}', now())"), "postings_amount_check"),
            (
                format!(
                    "{ENTRY} (2, 2, $op2, 'topup', 'topup', 1, '{text}', 0, 0, 1, 0, 0, now(), $link, $link)"
                ),
                "ledger_entries_available_change_check",
            ),
        ] {
            let sql = expanded(&sql);
            let error = connection.batch_execute(&sql).expect_err(&sql).to_string();
            assert!(error.contains(constraint), "{sql}: {error}");
        }
    }
    let most = "9".repeat(20);
    for text in ["0", "7", "10", most.as_str()] {
        connection.batch_execute(&format!("UPDATE wallets SET held = '{text}' WHERE user_id = 2")).unwrap();
    }
}
