//! Tampering with charge-backs and with money in suspense.

use super::Case;

/// The cases; top-ups as [`super::populate`] leaves them.
pub(crate) const TOPUPS: &[Case] = &[
    (
        "a charged-back top-up confirmed again",
        "UPDATE topups SET status = 'confirmed' WHERE id = 5",
        "top-up 5: entry 3 of wallet 7 is superfluous",
    ),
    (
        "a confirmed top-up charged back by hand",
        "UPDATE topups SET status = 'reversed' WHERE id = 3",
        "top-up 3: its chargeback entry is missing",
    ),
    (
        "a deleted charge-back, and a debt that is gone",
        "DELETE FROM ledger_entries WHERE wallet_id = 7 AND seq IN (3, 4); \
            UPDATE wallets SET (available, held, owed, seq, last_at, head) = \
            (SELECT available_after, held_after, owed_after, seq, at, hash FROM ledger_entries \
            WHERE wallet_id = 7 AND seq = 2) WHERE user_id = 7",
        "top-up 5: its chargeback entry is missing",
    ),
    (
        "the amount that was charged back",
        "UPDATE postings SET amount = {money 19} WHERE account = 'outside_topups' AND amount = {money 20}",
        "top-up 5: the postings of operation",
    ),
    (
        "the rules that a top-up was posted by, which paid a debt",
        "UPDATE operations SET posting_rules = NULL \
            WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 7 AND seq = 4)",
        "top-up 6: entry 4 of wallet 7 does not match",
    ),
    (
        "the rules that a release was posted by, which paid a debt",
        "UPDATE operations SET posting_rules = 2 \
            WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 9 AND seq = 4)",
        "withdrawal 7: entry 4 of wallet 9 does not match",
    ),
    (
        "forgotten money in suspense",
        "UPDATE topups SET suspense_operation = NULL, suspense_at = NULL WHERE id = 7",
        "a posting to outside_topups belongs to operation",
    ),
    (
        "a deleted top-up with money in suspense",
        "DELETE FROM topups WHERE id = 7",
        "a posting to outside_topups belongs to operation",
    ),
    (
        "the amount in suspense",
        "UPDATE topups SET amount = {money 8} WHERE id = 7",
        "top-up 7: the postings of operation",
    ),
    (
        "the posting in suspense",
        "UPDATE postings SET amount = {money 8} WHERE id = (SELECT min(id) FROM postings WHERE account = 'outside_suspense')",
        "top-up 7: the postings of operation",
    ),
    (
        "two postings more of an arrival",
        "INSERT INTO postings (operation_id, account, amount, at) SELECT operation_id, account, side, at \
            FROM postings, (SELECT {money 5} AS side UNION ALL SELECT {money -5}) AS sides \
            WHERE id = (SELECT min(id) FROM postings WHERE account = 'outside_suspense')",
        "top-up 7: the postings of operation",
    ),
    (
        "suspense of no top-up",
        "INSERT INTO postings (operation_id, account, amount, at) SELECT {new id}, account, amount, {now} \
            FROM (SELECT 'outside_suspense' AS account, {money 5} AS amount \
            UNION ALL SELECT 'outside_topups', {money -5}) AS sides",
        "a posting to outside_suspense belongs to operation",
    ),
    (
        "suspended money that is confirmed as well",
        "UPDATE topups SET status = 'confirmed' WHERE id = 7",
        "top-up 7: its amounts contradict each other",
    ),
    (
        "suspended money settled by hand",
        "UPDATE topups SET settled_operation = {new id}, settled_at = suspense_at, settled_by = 3, \
            settled_reason = 'mine' WHERE id = 7",
        "top-up 7: the record of operation",
    ),
    (
        "a forgotten settlement",
        "UPDATE topups SET settled_operation = NULL, settled_at = NULL, settled_by = NULL, settled_reason = NULL \
            WHERE id = 8",
        "a posting to outside_suspense belongs to operation",
    ),
    (
        "another reason of a settlement",
        "UPDATE topups SET settled_reason = 'mine' WHERE id = 8",
        "top-up 8: it differs from the record of operation",
    ),
    (
        "another operator behind a settlement",
        "UPDATE topups SET settled_by = 3 WHERE id = 8",
        "top-up 8: it differs from the record of operation",
    ),
    (
        "an arrival at another time",
        "UPDATE topups SET suspense_at = suspense_at - {interval 1 day} WHERE id = 7",
        "top-up 7: it differs from the record of operation",
    ),
    (
        "the operations of two arrivals swapped",
        "UPDATE topups SET suspense_operation = other.suspense_operation FROM topups AS other \
            WHERE other.suspense_operation IS NOT NULL AND other.id <> topups.id AND topups.id IN (7, 8)",
        "top-up 7: it differs from the record of operation",
    ),
    (
        "posting rules of no version",
        "UPDATE operations SET posting_rules = 0 \
            WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 7 AND seq = 4)",
        "cannot be read: the column operations.posting_rules",
    ),
    (
        "half of an arrival",
        "UPDATE topups SET suspense_at = NULL WHERE id = 7",
        "top-up 7 cannot be read: the column topups.suspense_operation",
    ),
    (
        "half of a settlement",
        "UPDATE topups SET settled_by = NULL WHERE id = 8",
        "top-up 8 cannot be read: the column topups.settled_operation",
    ),
    (
        "posting rules of a newer version",
        "UPDATE operations SET posting_rules = 9 \
            WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 7 AND seq = 4)",
        "was posted by the rules \"9\", which this version does not know",
    ),
];
