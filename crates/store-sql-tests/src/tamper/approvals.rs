//! Tampering with approvals of withdrawals, and with moves of withdrawals without money.

use super::Case;

/// The cases; withdrawals as [`super::populate`] leaves them.
pub(crate) const APPROVALS: &[Case] = &[
    (
        "an unapproved withdrawal set to approved",
        "UPDATE withdrawals SET status = 'approved' WHERE id = 1",
        "withdrawal 1: it differs from the record of operation",
    ),
    (
        "a forged second approval",
        "UPDATE withdrawals SET status = 'approved', second_approved_by = 5, second_approved_at = {now} WHERE id = 4",
        "withdrawal 4: it differs from the record of operation",
    ),
    (
        "one approval taken as sufficient",
        "UPDATE withdrawals SET status = 'approved' WHERE id = 4",
        "withdrawal 4: it differs from the record of operation",
    ),
    (
        "a forged approval",
        "UPDATE withdrawals SET approved_by = 4, approved_at = updated_at WHERE id = 1",
        "withdrawal 1: its approvals differ from those",
    ),
    (
        "another approver",
        "UPDATE withdrawals SET approved_by = 5 WHERE id = 4",
        "withdrawal 4: its approvals differ from those",
    ),
    (
        "an approval of another time",
        "UPDATE withdrawals SET approved_at = approved_at + {interval 1 day} WHERE id = 4",
        "withdrawal 4: its approvals differ from those",
    ),
    (
        "a lost approval",
        "UPDATE withdrawals SET approved_by = NULL, approved_at = NULL WHERE id = 4",
        "withdrawal 4: its approvals differ from those",
    ),
    (
        "a lost second approval",
        "UPDATE withdrawals SET second_approved_by = NULL, second_approved_at = NULL WHERE id = 5",
        "withdrawal 5: its approvals differ from those",
    ),
    (
        "swapped approvals",
        "UPDATE withdrawals SET approved_by = second_approved_by, second_approved_by = approved_by WHERE id = 5",
        "withdrawal 5: its approvals differ from those",
    ),
    (
        "a deleted record of a second approval",
        "DELETE FROM operations WHERE kind = 'approve_withdrawal' AND actor_user_id = 5",
        "withdrawal 5: it differs from the record of operation",
    ),
    (
        "the approver that an operation recorded",
        "UPDATE operations SET receipt = {with withdrawal.withdrawal.approved_by 5} \
            WHERE kind = 'approve_withdrawal' AND {read withdrawal.withdrawal.id} = '4'",
        "withdrawal 4: its approvals differ from those",
    ),
    (
        "the amount that an approval recorded",
        "UPDATE operations SET receipt = {with withdrawal.withdrawal.amount \"1.00\"} \
            WHERE kind = 'approve_withdrawal' AND {read withdrawal.withdrawal.id} = '4'",
        "withdrawal 4: it differs from the record of operation",
    ),
    (
        "an approved withdrawal in processing",
        "UPDATE withdrawals SET status = 'processing' WHERE id = 5",
        "withdrawal 5: it differs from the record of operation",
    ),
    (
        "an approved withdrawal pending again",
        "UPDATE withdrawals SET status = 'pending' WHERE id = 5",
        "withdrawal 5: it differs from the record of operation",
    ),
];
