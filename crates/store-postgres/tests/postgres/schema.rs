//! The tables refuse rows that no rule allows, from any client.

use cuepoint_store_postgres::testing::TestDatabase;
use tokio_postgres::error::SqlState;

use crate::scenario::client;

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

/// Expands the abbreviations of common values in the cases below.
fn expanded(case: &str) -> String {
    case.replace("$zero", "decode(repeat('00', 32), 'hex')")
        .replace("$link", "decode(repeat('11', 32), 'hex')")
        .replace("$op1", "'00000000-0000-0000-0000-000000000001'")
        .replace("$op2", "'00000000-0000-0000-0000-000000000002'")
}

/// Rows that every table accepts: a DJ and a guest with a topped-up wallet, and one of each other entity.
const SOUND: &[(&str, &str)] = &[
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
        "INSERT INTO operations (id, kind, actor_user_id, at, receipt) \
        VALUES ($op1, 'open_topup', 2, now(), '{}'), ($op2, 'adjust', NULL, now(), '{}')",
    ),
    (KEY, "($zero, $zero, $op1, now())"),
    (ENTRY, "(2, 1, $op1, 'topup', 'topup', 1, 10, 0, 0, 10, 0, 0, now(), $zero, $link)"),
    (POSTING, "($op1, 'outside_topups', -10, now())"),
    (POSTING, "($op1, 'outside_suspense', 10, now())"),
    ("", "UPDATE operations SET posting_rules = 2 WHERE id = $op1"),
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
    ("", "UPDATE topups SET attempts = 1, order_at = now(), payment_url = repeat('é', 2048) WHERE id = 8"),
    (SESSION, "(1, 2, now(), now(), now(), '2001:db8::1', 'Browser')"),
    (NETWORK, "(2, '192.0.2.7/32', now())"),
    (TOKEN, "($zero, 1, now(), now(), NULL)"),
    (CHALLENGE, "(2, 'email', 'ada@example.com', $zero, now(), 0, NULL)"),
    (CHALLENGE, "(2, 'email', 'ada@example.com', $zero, now(), 5, now())"),
    (MOVING, "(2, 'email_change', 'ada@example.com', $zero, now(), 0, 'Ada@example.com')"),
    (MOVING, "(2, 'email_restore', 'ada@example.com', $zero, now(), 0, 'Ada@example.com')"),
    (PHONE_CODE, "($zero, $link, now())"),
    (BLOCK, "(1, 2, now())"),
    (EVENT, "('logged_in', 2, 1, '192.0.2.1', repeat('é', 1024), now() - interval '364 days')"),
    (MESSAGE, "('payouts', 'm1', 'k', 'later_code', '5', NULL, repeat('x', 512), now(), NULL, NULL, NULL)"),
    (MESSAGE, "('topups', 'm1', 'k', 'c', '5', 5, NULL, now(), now(), 2, repeat('é', 255))"),
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
    (ENDPOINT, "(2, 'own', repeat('x', 2048), NULL, NULL, 'active', NULL, NULL, 's', 0, 3, 3, now())"),
    (
        ENDPOINT,
        "(2, 'all', 'u', 'a.b,c.d', repeat('é', 255), 'paused', NULL, NULL, 's', 5, NULL, NULL, now())",
    ),
    (ENDPOINT, "(1, 'own', 'u', '', NULL, 'disabled', now(), 'gone', 's', 5, NULL, NULL, now())"),
    (DELIVERY, "(1, 7, 0, now(), now()), (1, 8, 10, NULL, now())"),
    (ATTEMPT, "(1, 1, 7, 'a.b', 1, 204, NULL, 0, repeat('x', 1024), now())"),
    (ATTEMPT, "(1, 2, NULL, NULL, 1, NULL, 'timed_out', 15000, NULL, now())"),
];

/// Rows that violate one rule each, and the violated constraint.
const UNSOUND: &[(&str, &str, &str)] = &[
    (
        USER,
        "(3, 'Ada', 'ADA@example.com', 'ada@example.com', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, now())",
        "users_email_folded_key",
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
        "(3, repeat('é', 256), 'b@x', 'b@x', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, now())",
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
    ("", "UPDATE users SET latitude = 'NaN', longitude = 0 WHERE id = 1", "users_latitude_check"),
    ("", "UPDATE users SET radius = 20039 WHERE id = 1", "users_radius_check"),
    ("", "DELETE FROM users WHERE id = 2", "wallets_user_id_fkey"),
    (WALLET, "available = -0.01 WHERE user_id = 2", "wallets_available_check"),
    (WALLET, "held = -0.01 WHERE user_id = 2", "wallets_held_check"),
    (WALLET, "owed = -0.01 WHERE user_id = 2", "wallets_owed_check"),
    (WALLET, "available = 1 WHERE user_id = 1", "wallets_without_entries_are_empty"),
    (WALLET, "head = '' WHERE user_id = 1", "wallets_head_check"),
    ("", "DELETE FROM wallets WHERE user_id = 2", "withdrawals_user_id_fkey"),
    (
        REQUEST,
        "(3, 1, 1, 't', 'a', 'popular', 'https://x', 9, 'rejected', NULL, now(), NULL, now())",
        "music_requests_are_made_of_others",
    ),
    (
        REQUEST,
        "(3, 2, 9, 't', 'a', 'popular', 'https://x', 9, 'rejected', NULL, now(), NULL, now())",
        "music_requests_dj_id_fkey",
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
        "(2, 2, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, now(), now() - interval '1 s')",
        "withdrawals_change_after_creation",
    ),
    ("", "UPDATE withdrawals SET attempts = 1 WHERE id = 1", "withdrawals_sent_while_processing"),
    ("", "UPDATE withdrawals SET retry_at = now() WHERE id = 1", "withdrawals_sent_while_processing"),
    (
        "",
        "UPDATE withdrawals SET status = 'processing', attempts = -1 WHERE id = 1",
        "withdrawals_attempts_check",
    ),
    ("", "UPDATE withdrawals SET reference = $op1 WHERE id = 9", "withdrawals_reference_key"),
    ("", "UPDATE topups SET reference = $op1 WHERE id = 9", "topups_reference_key"),
    ("", "UPDATE topups SET attempts = -1 WHERE id = 1", "topups_attempts_check"),
    ("", "UPDATE topups SET order_at = now() WHERE id = 1", "topups_ordered_with_attempts"),
    ("", "UPDATE topups SET payment_url = repeat('é', 2049) WHERE id = 1", "topups_payment_url_check"),
    (TOPUP, "(2, 2, 0, 'pending', NULL, now(), now())", "topups_amount_check"),
    (TOPUP, "(2, 2, 1, 'lost', NULL, now(), now())", "topups_status_check"),
    ("", "UPDATE topups SET status = 'reversed' WHERE id = 11", "topups_suspended_have_failed"),
    ("", "UPDATE topups SET suspense_at = NULL WHERE id = 11", "topups_suspended_have_failed"),
    ("", "UPDATE topups SET settled_by = NULL WHERE id = 11", "topups_settled_were_suspended"),
    ("", "UPDATE topups SET settled_by = 0 WHERE id = 11", "topups_settled_by_check"),
    ("", "UPDATE topups SET settled_reason = '' WHERE id = 11", "topups_settled_reason_check"),
    (
        "",
        "UPDATE topups SET settled_at = suspense_at - interval '1 day' WHERE id = 11",
        "topups_settled_were_suspended",
    ),
    (TOPUP, "(2, 9, 1, 'pending', NULL, now(), now())", "topups_user_id_fkey"),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt) VALUES ($op1, 'adjust', now(), '{}')",
        "operations_pkey",
    ),
    (
        "",
        "INSERT INTO operations (id, kind, at, receipt) VALUES (gen_random_uuid(), 'adjust', now(), '[]')",
        "operations_receipt_check",
    ),
    ("", "UPDATE operations SET posting_rules = 0 WHERE id = $op1", "operations_posting_rules_check"),
    (KEY, "($zero, $link, $op2, now())", "idempotency_keys_pkey"),
    (KEY, "('', $link, $op2, now())", "idempotency_keys_scope_check"),
    (
        ENTRY,
        "(2, 1, $op2, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, now(), $zero, $link)",
        "ledger_entries_pkey",
    ),
    (
        ENTRY,
        "(2, 2, $op1, 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, now(), $link, $link)",
        "ledger_entries_once_per_operation",
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
        "(2, 2, gen_random_uuid(), 'topup', 'topup', 1, 1, 0, 0, 1, 0, 0, now(), $link, $link)",
        "ledger_entries_operation_id_fkey",
    ),
    (POSTING, "($op1, 'outside_topups', 0, now())", "postings_amount_check"),
    (POSTING, "($op1, 'elsewhere', 1, now())", "postings_account_check"),
    ("", "INSERT INTO ratings VALUES (1, 0, now())", "ratings_stars_check"),
    ("", "INSERT INTO ratings VALUES (1, 6, now())", "ratings_stars_check"),
    ("", "INSERT INTO ratings VALUES (1, 1, now()), (1, 2, now())", "ratings_pkey"),
    ("", "INSERT INTO ratings VALUES (99, 1, now())", "ratings_request_id_fkey"),
    ("", "INSERT INTO position_gaps VALUES (-1, 5)", "position_gaps_last_check"),
    ("", "INSERT INTO position_gaps VALUES (5, 5)", "position_gaps_is_a_range"),
    ("", "INSERT INTO position_gaps VALUES (5, 6), (5, 7)", "position_gaps_pkey"),
    (
        "",
        "INSERT INTO deployment (currency, scale, timeline) VALUES ('USD', 2, -1)",
        "deployment_timeline_check",
    ),
    ("", "INSERT INTO deployment (currency, scale) VALUES ('usd', 2)", "deployment_currency_check"),
    ("", "INSERT INTO deployment (currency, scale) VALUES ('USD', 9)", "deployment_scale_check"),
    (
        "",
        "INSERT INTO deployment (currency, scale, copy_state, copy_id, copy_target) VALUES ('USD', 2, 'x', $op1, 'x')",
        "deployment_copy_state_check",
    ),
    (
        "",
        "INSERT INTO deployment (currency, scale, copy_state, copy_id, copy_target) \
        VALUES ('USD', 2, 'moved', $op1, '')",
        "deployment_copy_target_check",
    ),
    (
        "",
        "INSERT INTO deployment (currency, scale, copy_state, copy_id) VALUES ('USD', 2, 'moving', $op1)",
        "deployment_copy_is_identified",
    ),
    (
        "",
        "INSERT INTO deployment (currency, scale, copy_state, copy_target) VALUES ('USD', 2, 'moving', 'x')",
        "deployment_copy_is_identified",
    ),
    (
        "",
        "INSERT INTO deployment (currency, scale) VALUES ('USD', 2); \
        INSERT INTO deployment (currency, scale) VALUES ('EUR', 2)",
        "deployment_pkey",
    ),
    (
        "",
        "INSERT INTO bootstrap_operator (made_at) VALUES (now()); \
        INSERT INTO bootstrap_operator (made_at) VALUES (now())",
        "bootstrap_operator_pkey",
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
    (SESSION, "(2, 8, now(), now(), now(), NULL, NULL)", "sessions_user_id_fkey"),
    (SESSION, "(2, 2, now(), now(), now(), '', NULL)", "sessions_address_check"),
    (SESSION, "(2, 2, now(), now(), now(), NULL, repeat('é', 256))", "sessions_agent_check"),
    (TOKEN, "('', 1, now(), now(), now())", "refresh_tokens_hash_check"),
    (TOKEN, "($link, 1, now(), now(), NULL)", "refresh_tokens_one_unused"),
    (TOKEN, "($link, 2, now(), now(), NULL)", "refresh_tokens_session_id_fkey"),
    (NETWORK, "(2, '192.0.2.7/32', now())", "login_networks_once"),
    (NETWORK, "(8, '192.0.2.8/32', now())", "login_networks_user_id_fkey"),
    (NETWORK, "(2, '', now())", "login_networks_network_check"),
    (CHALLENGE, "(2, 'email', 'a', $link, now(), 0, NULL)", "challenges_one_open"),
    (CHALLENGE, "(2, 'gift', 'a', $link, now(), 0, NULL)", "challenges_purpose_check"),
    (CHALLENGE, "(2, 'phone', '', $link, now(), 0, NULL)", "challenges_target_check"),
    (CHALLENGE, "(2, 'phone', 'a', '', now(), 0, NULL)", "challenges_hash_check"),
    (CHALLENGE, "(2, 'phone', 'a', $link, now(), -1, NULL)", "challenges_attempts_check"),
    (CHALLENGE, "(2, 'email_change', 'a', $link, now(), 0, now())", "challenges_address_check"),
    (MOVING, "(2, 'phone', 'a', $link, now(), 0, 'a')", "challenges_address_check"),
    (MOVING, "(2, 'email_restore', 'a', $link, now(), 0, '')", "challenges_address_check"),
    (PHONE_CODE, "('', $link, now())", "phone_codes_number_check"),
    (PHONE_CODE, "($link, '', now())", "phone_codes_network_check"),
    (BLOCK, "(1, 2, now())", "blocks_pkey"),
    (BLOCK, "(1, 8, now())", "blocks_guest_id_fkey"),
    (EVENT, "('', 2, 1, NULL, NULL, now())", "security_events_kind_check"),
    (EVENT, "('logged_in', 8, 1, NULL, NULL, now())", "security_events_user_id_fkey"),
    (EVENT, "('logged_in', 2, 1, NULL, repeat('é', 1025), now())", "security_events_detail_check"),
    (
        MESSAGE,
        "('payouts', 'm1', 'k', 'c', '5', NULL, NULL, now(), NULL, NULL, NULL)",
        "provider_messages_one_per_webhook_id",
    ),
    (
        MESSAGE,
        "('mail', 'm2', 'k', 'c', '5', NULL, NULL, now(), NULL, NULL, NULL)",
        "provider_messages_source_check",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, repeat('é', 257), now(), NULL, NULL, NULL)",
        "provider_messages_txid_check",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, NULL, now(), now(), NULL, 'r')",
        "provider_messages_are_resolved_as_a_whole",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, NULL, now(), now() - interval '1 second', 2, 'r')",
        "provider_messages_are_resolved_after_they_come",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, NULL, now(), now(), 88, 'r')",
        "provider_messages_resolved_by_fkey",
    ),
    (
        ENDPOINT,
        "(9, 'own', 'u', NULL, NULL, 'active', NULL, NULL, 's', 0, NULL, NULL, now())",
        "webhook_endpoints_owner_id_fkey",
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
        "(2, 'own', 'u', 'active', 's', 0, now(), '\\x01'::bytea, decode(repeat('01', 32), 'hex'))",
        "webhook_endpoints_creation_key_check",
    ),
    (
        KEYED,
        "(2, 'own', 'u', 'active', 's', 0, now(), decode(repeat('01', 32), 'hex'), '\\x01'::bytea)",
        "webhook_endpoints_creation_body_check",
    ),
    (
        KEYED,
        "(2, 'own', 'u', 'active', 's', 0, now(), NULL, decode(repeat('01', 32), 'hex'))",
        "webhook_endpoints_creation_has_both",
    ),
    (DELIVERY, "(1, 7, 1, NULL, now())", "webhook_deliveries_pkey"),
    (DELIVERY, "(9, 7, 1, NULL, now())", "webhook_deliveries_endpoint_id_fkey"),
    (DELIVERY, "(1, 0, 1, NULL, now())", "webhook_deliveries_position_check"),
    (DELIVERY, "(1, 9, -1, NULL, now())", "webhook_deliveries_attempts_check"),
    (ATTEMPT, "(1, 1, NULL, NULL, 1, 204, NULL, 0, NULL, now())", "webhook_attempts_pkey"),
    (ATTEMPT, "(9, 1, NULL, NULL, 1, 204, NULL, 0, NULL, now())", "webhook_attempts_endpoint_id_fkey"),
    (ATTEMPT, "(1, 3, NULL, NULL, 0, 204, NULL, 0, NULL, now())", "webhook_attempts_attempt_check"),
    (ATTEMPT, "(1, 3, 7, NULL, 1, 204, NULL, 0, NULL, now())", "webhook_attempts_of_events_have_both"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 204, 'answer', 0, NULL, now())", "webhook_attempts_have_one_outcome"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, NULL, NULL, 0, NULL, now())", "webhook_attempts_have_one_outcome"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 99, NULL, 0, NULL, now())", "webhook_attempts_status_check"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 204, NULL, -1, NULL, now())", "webhook_attempts_milliseconds_check"),
    (
        ATTEMPT,
        "(1, 3, NULL, NULL, 1, 204, NULL, 0, repeat('é', 513), now())",
        "webhook_attempts_answer_check",
    ),
];

/// Changes of append-only rows.
const HISTORY: &[&str] = &[
    "UPDATE ledger_entries SET available_change = 11",
    "DELETE FROM ledger_entries",
    "TRUNCATE ledger_entries",
    "UPDATE postings SET amount = 11",
    "DELETE FROM postings",
    "TRUNCATE postings",
    "UPDATE security_events SET detail = NULL",
    "DELETE FROM security_events",
    "TRUNCATE security_events",
    "UPDATE provider_messages SET resolution = 'r' WHERE resolved_at IS NOT NULL",
    "DELETE FROM provider_messages",
    "TRUNCATE provider_messages",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_table_refuses_invalid_rows() {
    let database = TestDatabase::create().await;
    let client = client(database.url()).await;
    for (before, row) in SOUND {
        let sql = expanded(&format!("{before}{row}"));
        client.batch_execute(&sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
    }
    for (before, row, constraint) in UNSOUND {
        let sql = expanded(&format!("{before}{row}"));
        let error = client.batch_execute(&sql).await.expect_err(&sql);
        assert_eq!(error.as_db_error().unwrap().constraint(), Some(*constraint), "{sql}: {error:?}");
    }
    for sql in HISTORY {
        let error = client.batch_execute(sql).await.expect_err(sql);
        assert_eq!(error.code(), Some(&SqlState::RESTRICT_VIOLATION), "{sql}: {error:?}");
    }
    let old = format!("{EVENT} ('logged_in', 2, 1, NULL, NULL, now() - interval '366 days')");
    client.batch_execute(&old).await.unwrap();
    let deleted =
        client.execute("DELETE FROM security_events WHERE at < now() - interval '1 year'", &[]).await;
    assert_eq!(deleted.unwrap(), 1, "events older than a year can be deleted");
}
