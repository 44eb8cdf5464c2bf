//! Rows about users that violate one rule each: profiles, sessions, codes, blocks and the security log.

use super::Violation;
use super::rows::{BLOCK, CHALLENGE, EVENT, MOVING, NETWORK, PHONE_CODE, SESSION, TOKEN, USER};

/// The rows.
pub(super) const USERS: &[Violation] = &[
    (
        USER,
        "(3, 'Ada', 'ADA@example.com', 'ada@example.com', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, {now})",
        "users_email_folded_key: users.email_folded",
    ),
    (
        USER,
        "(3, 'Bo', 'Bo@example.com', 'Bo@example.com', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, {now})",
        "users_email_folded_is_lower",
    ),
    (
        USER,
        "(0, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, {now})",
        "users_id_check",
    ),
    (
        USER,
        "(3, '', 'b@x', 'b@x', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, {now})",
        "users_name_check",
    ),
    (
        USER,
        "(3, {repeat é 256}, 'b@x', 'b@x', false, false, 'h', 'member', false, false, 0, 0, 0, 0, 0, {now})",
        "users_name_check",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'admin', false, false, 0, 0, 0, 0, 0, {now})",
        "users_role_check",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', false, true, 0, 0, 0, 0, 0, {now})",
        "users_only_djs_have_prices",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', true, true, -1, 0, 0, 0, 0, {now})",
        "users_fee_upcoming_artist_check",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', true, true, 0, -1, 0, 0, 0, {now})",
        "users_fee_popular_song_check",
    ),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, 'h', 'member', true, true, 0, 0, 0, 6, 1, {now})",
        "users_stars_fit_count",
    ),
    ("", "UPDATE users SET latitude = 1 WHERE id = 1", "users_place_is_whole"),
    ("", "UPDATE users SET latitude = 91, longitude = 0 WHERE id = 1", "users_latitude_check"),
    ("", "UPDATE users SET radius = 20039 WHERE id = 1", "users_radius_check"),
    ("", "DELETE FROM users WHERE id = 2", "users_are_kept"),
    (
        USER,
        "(3, 'Bo', 'b@x', 'b@x', false, false, '!', 'guest', false, false, 0, 0, 0, 0, 0, {now})",
        "users_guests_have_no_login",
    ),
    (
        USER,
        "(3, 'Bo', 'guest-3', 'guest-3', false, false, 'h', 'guest', false, false, 0, 0, 0, 0, 0, {now})",
        "users_guests_have_no_login",
    ),
    (
        USER,
        "(3, 'Bo', 'guest-3', 'guest-3', true, false, '!', 'guest', false, false, 0, 0, 0, 0, 0, {now})",
        "users_guests_have_no_login",
    ),
    (
        USER,
        "(3, 'Bo', 'guest-3', 'guest-3', false, false, '!', 'guest', true, false, 0, 0, 0, 0, 0, {now})",
        "users_guests_have_no_login",
    ),
    (
        "",
        "INSERT INTO bootstrap_operator (singleton, made_at) VALUES (true, {now}), (true, {now})",
        "bootstrap_operator_pkey: bootstrap_operator.singleton",
    ),
    (
        "",
        "INSERT INTO bootstrap_operator (singleton, made_at) VALUES (false, {now})",
        "bootstrap_operator_singleton_check",
    ),
    ("", "UPDATE users SET suspended_at = {now} WHERE id = 1", "users_suspension_is_noted"),
    ("", "UPDATE users SET erased_at = {now} WHERE id = 2", "users_erased_are_nobody"),
    ("", "UPDATE users SET password_hash = 'h' WHERE id = 5", "users_erased_are_nobody"),
    ("", "UPDATE users SET phone = '+1' WHERE id = 5", "users_erased_are_nobody"),
    ("", "UPDATE users SET email_folded = 'b@x' WHERE id = 5", "users_erased_are_nobody"),
    (SESSION, "(0, 2, {now}, {now}, {now}, NULL, NULL)", "sessions_id_check"),
    (SESSION, "(2, 8, {now}, {now}, {now}, NULL, NULL)", "sessions_user_id_fkey"),
    (SESSION, "(2, 2, {now}, {now}, {now}, '', NULL)", "sessions_address_check"),
    (SESSION, "(2, 2, {now}, {now}, {now}, NULL, {repeat é 256})", "sessions_agent_check"),
    ("", "UPDATE sessions SET cookie_hash = {bytes} WHERE id = 1", "sessions_cookie_hash_check"),
    (
        "",
        "INSERT INTO sessions (id, user_id, began_at, used_at, expires_at, cookie_hash) \
            VALUES (2, 2, {now}, {now}, {now}, {link}), (3, 2, {now}, {now}, {now}, {link})",
        "sessions_cookie_hash_key: sessions.cookie_hash",
    ),
    (TOKEN, "({bytes}, 1, {now}, {now}, {now})", "refresh_tokens_hash_check"),
    (TOKEN, "({link}, 1, {now}, {now}, NULL)", "refresh_tokens_one_unused: refresh_tokens.session_id"),
    (TOKEN, "({link}, 2, {now}, {now}, NULL)", "refresh_tokens_session_id_fkey"),
    (
        NETWORK,
        "(2, '192.0.2.7/32', {now})",
        "login_networks_once: login_networks.user_id, login_networks.network",
    ),
    (NETWORK, "(8, '192.0.2.8/32', {now})", "login_networks_user_id_fkey"),
    (NETWORK, "(2, '', {now})", "login_networks_network_check"),
    (
        CHALLENGE,
        "(2, 'email', 'a', {link}, {now}, 0, NULL)",
        "challenges_one_open: challenges.user_id, challenges.purpose",
    ),
    (CHALLENGE, "(2, 'gift', 'a', {link}, {now}, 0, NULL)", "challenges_purpose_check"),
    (CHALLENGE, "(2, 'phone', '', {link}, {now}, 0, NULL)", "challenges_target_check"),
    (CHALLENGE, "(2, 'phone', 'a', {bytes}, {now}, 0, NULL)", "challenges_hash_check"),
    (CHALLENGE, "(2, 'phone', 'a', {link}, {now}, -1, NULL)", "challenges_attempts_check"),
    (CHALLENGE, "(2, 'email_change', 'a', {link}, {now}, 0, {now})", "challenges_address_check"),
    (MOVING, "(2, 'phone', 'a', {link}, {now}, 0, 'a')", "challenges_address_check"),
    (MOVING, "(2, 'email_restore', 'a', {link}, {now}, 0, '')", "challenges_address_check"),
    (PHONE_CODE, "({bytes}, {link}, {now})", "phone_codes_number_check"),
    (PHONE_CODE, "({link}, {bytes}, {now})", "phone_codes_network_check"),
    (BLOCK, "(1, 2, {now})", "blocks_pkey: blocks.dj_id, blocks.guest_id"),
    (BLOCK, "(1, 8, {now})", "blocks_guest_id_fkey"),
    (EVENT, "('', 2, 1, NULL, NULL, {now})", "security_events_kind_check"),
    (EVENT, "('logged_in', 8, 1, NULL, NULL, {now})", "security_events_user_id_fkey"),
    (EVENT, "('logged_in', 2, 1, NULL, {repeat é 1025}, {now})", "security_events_detail_check"),
];
