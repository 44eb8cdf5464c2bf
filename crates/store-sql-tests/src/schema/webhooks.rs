//! Rows about messages of providers and about webhooks that violate one rule each.

use super::Violation;
use super::rows::{ATTEMPT, DELIVERY, ENDPOINT, KEYED, MESSAGE};

/// The rows.
pub(super) const WEBHOOKS: &[Violation] = &[
    (
        MESSAGE,
        "('payouts', 'm1', 'k', 'c', '5', NULL, NULL, {now}, NULL, NULL, NULL)",
        "provider_messages_one_per_webhook_id: provider_messages.source, provider_messages.webhook_id",
    ),
    (
        MESSAGE,
        "('mail', 'm2', 'k', 'c', '5', NULL, NULL, {now}, NULL, NULL, NULL)",
        "provider_messages_source_check",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, {repeat é 257}, {now}, NULL, NULL, NULL)",
        "provider_messages_txid_check",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, NULL, {now}, {now}, NULL, 'r')",
        "provider_messages_are_resolved_as_a_whole",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, NULL, {now}, {now} - {interval 1 microsecond}, 2, 'r')",
        "provider_messages_are_resolved_after_they_come",
    ),
    (
        MESSAGE,
        "('topups', 'm2', 'k', 'c', '5', NULL, NULL, {now}, {now}, 88, 'r')",
        "provider_messages_resolved_by_fkey",
    ),
    (
        ENDPOINT,
        "(9, 'own', 'u', NULL, NULL, 'active', NULL, NULL, 's', 0, NULL, NULL, {now})",
        "webhook_endpoints_owner_id_fkey",
    ),
    (
        ENDPOINT,
        "(2, 'some', 'u', NULL, NULL, 'active', NULL, NULL, 's', 0, NULL, NULL, {now})",
        "webhook_endpoints_feed_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', '', NULL, NULL, 'active', NULL, NULL, 's', 0, NULL, NULL, {now})",
        "webhook_endpoints_url_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, '', 'active', NULL, NULL, 's', 0, NULL, NULL, {now})",
        "webhook_endpoints_description_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'lost', NULL, NULL, 's', 0, NULL, NULL, {now})",
        "webhook_endpoints_state_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'disabled', {now}, NULL, 's', 0, NULL, NULL, {now})",
        "webhook_endpoints_are_disabled_for_a_reason",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', {now}, 'gone', 's', 0, NULL, NULL, {now})",
        "webhook_endpoints_are_disabled_for_a_reason",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', NULL, NULL, '', 0, NULL, NULL, {now})",
        "webhook_endpoints_secrets_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', NULL, NULL, 's', -1, NULL, NULL, {now})",
        "webhook_endpoints_cursor_check",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', NULL, NULL, 's', 0, 4, 3, {now})",
        "webhook_endpoints_replay_is_a_range",
    ),
    (
        ENDPOINT,
        "(2, 'own', 'u', NULL, NULL, 'active', NULL, NULL, 's', 0, NULL, 3, {now})",
        "webhook_endpoints_replay_is_a_range",
    ),
    (
        KEYED,
        "(2, 'own', 'u', 'active', 's', 0, {now}, {bytes 01}, {link})",
        "webhook_endpoints_creation_key_check",
    ),
    (
        KEYED,
        "(2, 'own', 'u', 'active', 's', 0, {now}, {link}, {bytes 01})",
        "webhook_endpoints_creation_body_check",
    ),
    (KEYED, "(2, 'own', 'u', 'active', 's', 0, {now}, NULL, {link})", "webhook_endpoints_creation_has_both"),
    (
        DELIVERY,
        "(1, 7, 1, NULL, {now})",
        "webhook_deliveries_pkey: webhook_deliveries.endpoint_id, webhook_deliveries.position",
    ),
    (DELIVERY, "(9, 7, 1, NULL, {now})", "webhook_deliveries_endpoint_id_fkey"),
    (DELIVERY, "(1, 0, 1, NULL, {now})", "webhook_deliveries_position_check"),
    (DELIVERY, "(1, 9, -1, NULL, {now})", "webhook_deliveries_attempts_check"),
    (
        ATTEMPT,
        "(1, 1, NULL, NULL, 1, 204, NULL, 0, NULL, {now})",
        "webhook_attempts_pkey: webhook_attempts.endpoint_id, webhook_attempts.number",
    ),
    (ATTEMPT, "(9, 1, NULL, NULL, 1, 204, NULL, 0, NULL, {now})", "webhook_attempts_endpoint_id_fkey"),
    (ATTEMPT, "(1, 3, NULL, NULL, 0, 204, NULL, 0, NULL, {now})", "webhook_attempts_attempt_check"),
    (ATTEMPT, "(1, 3, 7, NULL, 1, 204, NULL, 0, NULL, {now})", "webhook_attempts_of_events_have_both"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 204, 'answer', 0, NULL, {now})", "webhook_attempts_have_one_outcome"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, NULL, NULL, 0, NULL, {now})", "webhook_attempts_have_one_outcome"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 99, NULL, 0, NULL, {now})", "webhook_attempts_status_check"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 204, NULL, -1, NULL, {now})", "webhook_attempts_milliseconds_check"),
    (ATTEMPT, "(1, 3, NULL, NULL, 1, 204, NULL, 0, {repeat é 513}, {now})", "webhook_attempts_answer_check"),
];
