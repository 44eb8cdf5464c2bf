//! Query plans: no statement reads a table that grows as a whole, and no list is sorted. The store contract
//! judges every statement that it causes; the tests here prove the judgement.

use cuepoint_store_sql::rows::INCOME;
use cuepoint_store_sqlite::testing::query_plans::QueryPlans;

/// Statements like those of the store, each with the index without which it has a defect.
const STATEMENTS: &[(&str, &str)] = &[
    (
        "SELECT name FROM `users` WHERE (`users`.`erased_at` IS NULL) ORDER BY created_at DESC, id DESC LIMIT ?",
        "users_newest",
    ),
    ("SELECT id FROM users WHERE standing_at >= ?", "users_by_standing"),
    (
        "SELECT fee FROM music_requests WHERE expires_at <= ? ORDER BY expires_at, id LIMIT ?",
        "music_requests_overdue",
    ),
    (
        "SELECT fee FROM music_requests WHERE requester_id = ? ORDER BY created_at DESC, id DESC LIMIT ?",
        "music_requests_of_requester",
    ),
    ("SELECT amount FROM withdrawals WHERE reference = ?", "withdrawals_reference_key"),
    (
        "SELECT amount FROM withdrawals WHERE status = ? ORDER BY created_at DESC, id DESC LIMIT ?",
        "withdrawals_by_status",
    ),
    ("SELECT amount FROM topups WHERE order_at <= ? ORDER BY order_at, id LIMIT ?", "topups_to_order"),
    (
        "SELECT amount FROM topups WHERE suspense_operation IS NOT NULL \
            ORDER BY settled_operation IS NOT NULL, suspense_at DESC, id DESC LIMIT ?",
        "topups_in_suspense",
    ),
    (
        "SELECT receipt FROM operations WHERE kind IN ('move_withdrawal', 'approve_withdrawal') \
            AND json_extract(receipt, '$.withdrawal.withdrawal.id') = ?",
        "operations_on_withdrawals",
    ),
    (
        "SELECT receipt FROM operations WHERE position > ? AND owner_id = ? ORDER BY position LIMIT ?",
        "operations_of_owner",
    ),
    (
        "SELECT receipt FROM operations WHERE position > ? AND dj_id = ? ORDER BY position LIMIT ?",
        "operations_of_dj",
    ),
    (
        "SELECT receipt FROM operations WHERE position > ? ORDER BY position LIMIT ?",
        "operations_position_key",
    ),
    (
        "SELECT hash FROM ledger_entries WHERE reference_kind = ? AND reference_id = ?",
        "ledger_entries_of_reference",
    ),
    ("SELECT amount FROM postings WHERE operation_id = ?", "postings_of_operation"),
    ("SELECT id FROM sessions WHERE ended_at >= ?", "sessions_ended"),
    ("SELECT user_id FROM challenges WHERE hash = ? AND purpose = 'password'", "challenges_for_passwords"),
    ("SELECT id FROM challenges WHERE hash = ? AND purpose = 'email_restore'", "challenges_for_restorations"),
    ("SELECT id FROM challenges WHERE hash = ? AND purpose = 'wallet_link'", "challenges_for_wallet_links"),
    ("SELECT at FROM blocks WHERE dj_id = ? ORDER BY at DESC, guest_id DESC LIMIT ?", "blocks_of_dj"),
    (
        "SELECT detail FROM security_events WHERE user_id = ? ORDER BY id DESC LIMIT ?",
        "security_events_about_user",
    ),
    (
        "DELETE FROM phone_codes WHERE id IN (SELECT id FROM phone_codes WHERE sent_at <= ? LIMIT ?)",
        "phone_codes_by_age",
    ),
    (
        "SELECT url FROM webhook_endpoints WHERE owner_id = ? ORDER BY id DESC LIMIT ?",
        "webhook_endpoints_of_owner",
    ),
    (
        "SELECT url FROM webhook_endpoints WHERE feed = ? ORDER BY id DESC LIMIT ?",
        "webhook_endpoints_of_feed",
    ),
    (
        "SELECT url FROM webhook_endpoints WHERE state = ? ORDER BY leased_until, id LIMIT ?",
        "webhook_endpoints_by_turn",
    ),
    (
        "SELECT attempts FROM webhook_deliveries WHERE endpoint_id = ? AND next_at <= ? \
            ORDER BY next_at, position LIMIT ?",
        "webhook_deliveries_due",
    ),
];

#[test]
fn the_income_of_a_wallet_is_read_through_its_partial_index() {
    let statement = format!(
        "SELECT at, available_change FROM ledger_entries WHERE wallet_id = ? AND at > ? AND {INCOME} AND at <= ?"
    );
    assert!(QueryPlans::create().use_index(&statement, "ledger_entries_income"));
}

#[test]
fn a_statement_without_its_index_is_reported() {
    let mut plans = QueryPlans::create();
    for (statement, _) in STATEMENTS {
        assert_eq!(plans.complaint(statement), None);
    }
    for (statement, index) in STATEMENTS {
        plans.drop_index(index);
        assert!(plans.complaint(statement).is_some(), "{statement} without {index}");
    }
}
