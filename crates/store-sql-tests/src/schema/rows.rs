//! Rows that every table accepts, and the beginnings of statements about them.

pub const USER: &str = "INSERT INTO users (id, name, email, email_folded, email_verified, phone_verified, \
    password_hash, role, is_dj, online, fee_upcoming_artist, fee_popular_song, played, rating_stars, \
    rating_count, created_at) VALUES ";
pub const REQUEST: &str = "INSERT INTO music_requests (id, requester_id, dj_id, song_title, artist_name, artist_type, \
    music_url, fee, status, expires_at, changed_at, commission, created_at) VALUES ";
pub const CODE: &str = "INSERT INTO gig_codes (code, dj_id, created_at) VALUES ";
pub const GIG: &str = "INSERT INTO gigs (id, dj_id, code, title, venue, city, latitude, longitude, message, queue_order, \
    max_open_per_guest, members_only, opened_at, ended_at, settled) VALUES ";
pub const TIP: &str =
    "INSERT INTO tips (id, guest_id, dj_id, gig_id, amount, commission, created_at) VALUES ";
pub const WITHDRAWAL: &str = "INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, status, \
    txid, created_at, updated_at) VALUES ";
pub const TOPUP: &str =
    "INSERT INTO topups (id, user_id, amount, status, payment_url, created_at, updated_at) VALUES ";
pub const ENTRY: &str = "INSERT INTO ledger_entries (wallet_id, seq, operation_id, kind, reference_kind, reference_id, \
    available_change, held_change, owed_change, available_after, held_after, owed_after, at, previous, hash) VALUES ";
pub const POSTING: &str = "INSERT INTO postings (operation_id, account, amount, at) VALUES ";
pub const WALLET: &str = "UPDATE wallets SET ";
pub const SESSION: &str =
    "INSERT INTO sessions (id, user_id, began_at, used_at, expires_at, address, agent) VALUES ";
pub const TOKEN: &str =
    "INSERT INTO refresh_tokens (hash, session_id, issued_at, expires_at, used_at) VALUES ";
pub const CHALLENGE: &str =
    "INSERT INTO challenges (user_id, purpose, target, hash, issued_at, attempts, ended_at) VALUES ";
pub const MOVING: &str =
    "INSERT INTO challenges (user_id, purpose, target, hash, issued_at, attempts, address) VALUES ";
pub const NETWORK: &str = "INSERT INTO login_networks (user_id, network, seen_at) VALUES ";
pub const PHONE_CODE: &str = "INSERT INTO phone_codes (number, network, sent_at) VALUES ";
pub const BLOCK: &str = "INSERT INTO blocks (dj_id, guest_id, at) VALUES ";
pub const EVENT: &str =
    "INSERT INTO security_events (kind, user_id, session_id, address, detail, at) VALUES ";
pub const MESSAGE: &str = "INSERT INTO provider_messages (source, webhook_id, kind, reason_code, reference, row_id, txid, \
    received_at, resolved_at, resolved_by, resolution) VALUES ";
pub const ENDPOINT: &str = "INSERT INTO webhook_endpoints (owner_id, feed, url, types, description, state, disabled_at, \
    disabled_reason, secrets, cursor, replay_after, replay_until, created_at) VALUES ";
pub const KEYED: &str = "INSERT INTO webhook_endpoints (owner_id, feed, url, state, secrets, cursor, created_at, \
    creation_key, creation_body) VALUES ";
pub const DELIVERY: &str =
    "INSERT INTO webhook_deliveries (endpoint_id, position, attempts, next_at, failed_at) VALUES ";
pub const ATTEMPT: &str = "INSERT INTO webhook_attempts (endpoint_id, number, position, event_type, attempt, status, \
    error, milliseconds, answer, at) VALUES ";
pub const KEY: &str = "INSERT INTO idempotency_keys (scope, fingerprint, operation_id, at) VALUES ";

/// Rows that every table accepts: a DJ and a guest with a topped-up wallet, and one of each other entity.
pub const SOUND: &[(&str, &str)] = &[
    (
        USER,
        "(1, 'Dj', 'dj@example.com', 'dj@example.com', true, false, 'h', 'member', true, true, 5, 9, 0, 9, 2, {now})",
    ),
    (
        USER,
        "(2, 'Ada', 'Ada@Example.com', 'ada@example.com', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, {now})",
    ),
    (
        "",
        "INSERT INTO wallets (user_id, available, held, owed, seq, last_at, head) \
        VALUES (1, 0, 0, 0, 0, {now}, {zero}), (2, 10, 0, 0, 1, {now}, {link})",
    ),
    (
        "",
        "INSERT INTO operations (id, kind, actor_user_id, at, receipt, posting_rules) \
        VALUES ({id 1}, 'open_topup', 2, {now}, '{}', 2), ({id 2}, 'adjust', NULL, {now}, '{}', NULL)",
    ),
    (KEY, "({zero}, {zero}, {id 1}, {now})"),
    (ENTRY, "(2, 1, {id 1}, 'topup', 'topup', 1, 10, 0, 0, 10, 0, 0, {now}, {zero}, {link})"),
    (POSTING, "({id 1}, 'outside_topups', -10, {now})"),
    (POSTING, "({id 1}, 'outside_suspense', 10, {now})"),
    (ENTRY, "(1, 1, {id 1}, 'chargeback', 'topup', 1, 0, 0, 5, 0, 0, 5, {now}, {zero}, {link})"),
    (CODE, "('K7TW3M', 1, {now})"),
    (GIG, "(1, 1, 'K7TW3M', 't', NULL, NULL, NULL, NULL, NULL, 'rounds', 3, false, {now}, NULL, false)"),
    (REQUEST, "(1, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'pending', {now}, {now}, NULL, {now})"),
    (REQUEST, "(2, 2, 1, 't', 'a', 'popular', 'https://x', 9, 'played', NULL, {now}, 9, {now})"),
    (TIP, "(1, 2, 1, 1, 10, 0, {now}), (2, 2, 1, 1, 10, 10, {now})"),
    (WITHDRAWAL, "(1, 2, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, {now}, {now})"),
    (TOPUP, "(1, 2, 10, 'confirmed', NULL, {now}, {now})"),
    (TOPUP, "(10, 2, 10, 'reversed', NULL, {now}, {now}), (11, 2, 10, 'failed', NULL, {now}, {now})"),
    ("", "UPDATE topups SET suspense_operation = {id 1}, suspense_at = {now} WHERE id = 11"),
    (
        "",
        "UPDATE topups SET settled_operation = {id 2}, settled_at = {now}, settled_by = 2, settled_reason = 'x' \
        WHERE id = 11",
    ),
    (
        "",
        "UPDATE withdrawals SET reference = {id 1} WHERE id = 1; UPDATE topups SET reference = {id 1} WHERE id = 1",
    ),
    // As servers of an earlier version open them: any number may lack a reference.
    (WITHDRAWAL, "(8, 2, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, {now}, {now})"),
    (WITHDRAWAL, "(9, 2, 1, 'w', 'USDT', 'TRC20', 'pending', NULL, {now}, {now})"),
    (TOPUP, "(8, 2, 10, 'confirmed', NULL, {now}, {now}), (9, 2, 10, 'confirmed', NULL, {now}, {now})"),
    ("", "UPDATE topups SET attempts = 1, order_at = {now}, payment_url = {repeat é 2048} WHERE id = 8"),
    (SESSION, "(1, 2, {now}, {now}, {now}, '2001:db8::1', 'Browser')"),
    (NETWORK, "(2, '192.0.2.7/32', {now})"),
    (TOKEN, "({zero}, 1, {now}, {now}, NULL)"),
    (CHALLENGE, "(2, 'email', 'ada@example.com', {zero}, {now}, 0, NULL)"),
    (CHALLENGE, "(2, 'email', 'ada@example.com', {zero}, {now}, 5, {now})"),
    (MOVING, "(2, 'email_change', 'ada@example.com', {zero}, {now}, 0, 'Ada@example.com')"),
    (MOVING, "(2, 'email_restore', 'ada@example.com', {zero}, {now}, 0, 'Ada@example.com')"),
    (PHONE_CODE, "({zero}, {link}, {now})"),
    (BLOCK, "(1, 2, {now})"),
    (EVENT, "('logged_in', 2, 1, '192.0.2.1', {repeat é 1024}, {now} - {interval 364 day})"),
    (MESSAGE, "('payouts', 'm1', 'k', 'later_code', '5', NULL, {repeat x 512}, {now}, NULL, NULL, NULL)"),
    (MESSAGE, "('topups', 'm1', 'k', 'c', '5', 5, NULL, {now}, {now}, 2, {repeat é 255})"),
    (
        "",
        "INSERT INTO users (id, name, email, email_folded, email_verified, phone_verified, password_hash, role, \
        is_dj, online, fee_upcoming_artist, fee_popular_song, played, rating_stars, rating_count, created_at, \
        suspended_at, standing_at, erased_at) VALUES (5, 'Erased', 'erased-5', 'erased-5', false, false, '!', \
        'auditor', true, false, 0, 0, 7, 9, 2, {now}, {now}, {now}, {now})",
    ),
    // Approvals: one while the withdrawal is pending, then two, by different operators.
    (
        "",
        "UPDATE withdrawals SET approved_by = 1, approved_at = {now} WHERE id = 8; UPDATE withdrawals SET \
        status = 'approved', approved_by = 1, approved_at = {now}, second_approved_by = 5, \
        second_approved_at = {now} WHERE id = 9",
    ),
    (ENDPOINT, "(2, 'own', {repeat x 2048}, NULL, NULL, 'active', NULL, NULL, 's', 0, 3, 3, {now})"),
    (ENDPOINT, "(2, 'all', 'u', 'a.b,c.d', {repeat é 255}, 'paused', NULL, NULL, 's', 5, NULL, NULL, {now})"),
    (ENDPOINT, "(1, 'own', 'u', '', NULL, 'disabled', {now}, 'gone', 's', 5, NULL, NULL, {now})"),
    (DELIVERY, "(1, 7, 0, {now}, {now}), (1, 8, 10, NULL, {now})"),
    (ATTEMPT, "(1, 1, 7, 'a.b', 1, 204, NULL, 0, {repeat x 1024}, {now})"),
    (ATTEMPT, "(1, 2, NULL, NULL, 1, NULL, 'timed_out', 15000, NULL, {now})"),
];
