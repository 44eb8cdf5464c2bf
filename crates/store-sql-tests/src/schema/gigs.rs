//! Rows about gigs that violate one rule each.

use super::Violation;
use super::rows::{CODE, GIG, TIP};

/// The rows.
pub(super) const GIGS: &[Violation] = &[
    (CODE, "('K7TW3', 1, {now})", "gig_codes_code_check"),
    (CODE, "('K7TW3A', 1, {now})", "gig_codes_code_check"),
    (CODE, "('k7tw3m', 1, {now})", "gig_codes_code_check"),
    (CODE, "('K7TW3M', 1, {now})", "gig_codes_pkey: gig_codes.code"),
    (CODE, "('B2C3D4', 99, {now})", "gig_codes_dj_id_fkey"),
    (
        GIG,
        "(0, 1, 'K7TW3M', 't', NULL, NULL, NULL, NULL, NULL, 'rounds', 3, false, {now}, {now}, false)",
        "gigs_id_check",
    ),
    (
        GIG,
        "(1, 1, 'K7TW3M', 't', NULL, NULL, NULL, NULL, NULL, 'rounds', 3, false, {now}, {now}, false)",
        "gigs_pkey: gigs.id",
    ),
    (
        GIG,
        "(2, 1, 'K7TW3M', 't', NULL, NULL, NULL, NULL, NULL, 'rounds', 3, false, {now}, NULL, false)",
        "gigs_one_open_per_dj: gigs.dj_id",
    ),
    (
        GIG,
        "(2, 99, 'K7TW3M', 't', NULL, NULL, NULL, NULL, NULL, 'rounds', 3, false, {now}, {now}, false)",
        "gigs_dj_id_fkey",
    ),
    (
        GIG,
        "(2, 1, 'B2C3D4', 't', NULL, NULL, NULL, NULL, NULL, 'rounds', 3, false, {now}, {now}, false)",
        "gigs_code_fkey",
    ),
    ("", "UPDATE gigs SET title = ''", "gigs_title_check"),
    ("", "UPDATE gigs SET venue = ''", "gigs_venue_check"),
    ("", "UPDATE gigs SET city = ''", "gigs_city_check"),
    ("", "UPDATE gigs SET message = ''", "gigs_message_check"),
    ("", "UPDATE gigs SET latitude = 90.1, longitude = 0", "gigs_latitude_check"),
    ("", "UPDATE gigs SET latitude = 0, longitude = 180.1", "gigs_longitude_check"),
    ("", "UPDATE gigs SET latitude = 0", "gigs_have_both_coordinates"),
    ("", "UPDATE gigs SET queue_order = 'random'", "gigs_queue_order_check"),
    ("", "UPDATE gigs SET max_open_per_guest = 0", "gigs_max_open_per_guest_check"),
    ("", "UPDATE gigs SET max_open_per_guest = 101", "gigs_max_open_per_guest_check"),
    ("", "UPDATE gigs SET ended_at = {now} - {interval 1 day}", "gigs_ended_at_check"),
    ("", "UPDATE gigs SET settled = true", "gigs_settle_after_their_end"),
    ("", "UPDATE music_requests SET gig_id = 99", "music_requests_gig_id_fkey"),
    ("", "UPDATE music_requests SET displaced = true", "music_requests_displaced_check"),
    ("", "INSERT INTO request_messages VALUES (1, '', {now})", "request_messages_message_check"),
    ("", "INSERT INTO request_messages VALUES (99, 'm', {now})", "request_messages_request_id_fkey"),
    (
        "",
        "INSERT INTO request_messages VALUES (1, 'm', {now}), (1, 'm', {now})",
        "request_messages_pkey: request_messages.request_id",
    ),
    (TIP, "(0, 2, 1, 1, 10, 1, {now})", "tips_id_check"),
    (TIP, "(1, 2, 1, 1, 10, 1, {now})", "tips_pkey: tips.id"),
    (TIP, "(3, 99, 1, 1, 10, 1, {now})", "tips_guest_id_fkey"),
    (TIP, "(3, 2, 99, 1, 10, 1, {now})", "tips_dj_id_fkey"),
    (TIP, "(3, 2, 1, 99, 10, 1, {now})", "tips_gig_id_fkey"),
    (TIP, "(3, 2, 2, 1, 10, 1, {now})", "tips_are_given_to_others"),
    (TIP, "(3, 2, 1, 1, 0, 0, {now})", "tips_amount_check"),
    (TIP, "(3, 2, 1, 1, 10, -1, {now})", "tips_commission_check"),
    (TIP, "(3, 2, 1, 1, 10, 11, {now})", "tips_commission_within_amount"),
];
