//! Tampering that leaves rows unreadable.

use super::Case;

/// The cases; rows as [`super::populate`] leaves them.
pub(crate) const UNREADABLE: &[Case] = &[
    ("a record of nothing", "UPDATE operations SET receipt = '{}' WHERE kind = 'adjust'", "cannot be read"),
    (
        "NaN in a wallet",
        "UPDATE wallets SET held = 'NaN' WHERE user_id = 2",
        "the wallet after wallet 1 cannot be read|wallet 2 cannot be read: the column wallets.held",
    ),
    (
        "NaN in an entry",
        "UPDATE ledger_entries SET held_after = 'NaN' WHERE wallet_id = 1 AND seq = 5",
        "the entry after entry 4 of wallet 1 cannot be read\
            |entry 5 of wallet 1 cannot be read: the column ledger_entries.held_after",
    ),
    (
        "NaN in a posting",
        "UPDATE postings SET amount = 'NaN' WHERE id = 1",
        "the first posting cannot be read|posting 1 cannot be read",
    ),
    (
        "NaN in a fee",
        "UPDATE music_requests SET fee = 'NaN' WHERE id = 2",
        "after music request 1 cannot be read|music request 2 cannot be read",
    ),
    (
        "NaN in a withdrawal",
        "UPDATE withdrawals SET amount = 'NaN' WHERE id = 1",
        "the first withdrawal cannot be read|withdrawal 1 cannot be read",
    ),
    (
        "NaN in a top-up",
        "UPDATE topups SET amount = 'NaN' WHERE id = 3",
        "the top-up after top-up 2 cannot be read|top-up 3 cannot be read",
    ),
    (
        "less than a cent in a wallet",
        "UPDATE wallets SET owed = {money 0.001} WHERE user_id = 3",
        "wallet 3 cannot be read",
    ),
    (
        "less than a cent in an entry",
        "UPDATE ledger_entries SET owed_after = {money 0.001} WHERE wallet_id = 1 AND seq = 7",
        "entry 7 of wallet 1 cannot be read: the column ledger_entries.owed_after",
    ),
    (
        "less than a cent in a posting",
        "UPDATE postings SET amount = {money 0.00000001} WHERE id = 2",
        "posting 2 cannot be read",
    ),
    (
        "less than a cent in a fee",
        "UPDATE music_requests SET fee = {money 0.001} WHERE id = 4",
        "music request 4 cannot be read",
    ),
    (
        "an unknown status",
        "UPDATE withdrawals SET status = 'lost' WHERE id = 2",
        "withdrawal 2 has the status \"lost\", which this version does not know",
    ),
    (
        "an unknown status that is no name",
        "UPDATE withdrawals SET status = 'Lost?' WHERE id = 2",
        "withdrawal 2 cannot be read",
    ),
    (
        "a second approval without a first",
        "UPDATE withdrawals SET approved_by = NULL, approved_at = NULL WHERE id = 5",
        "withdrawal 5 cannot be read",
    ),
    (
        "an approval without a time",
        "UPDATE withdrawals SET approved_at = NULL WHERE id = 4",
        "withdrawal 4 cannot be read",
    ),
    (
        "an unknown status beside what is wrong for certain",
        "UPDATE withdrawals SET status = 'lost' WHERE id = 2; UPDATE wallets SET held = held + {money 1} WHERE user_id = 1",
        "wallet 1: its balance",
    ),
    (
        "a status that lacks its data",
        "UPDATE music_requests SET commission = NULL WHERE id = 3",
        "request 3 cannot be",
    ),
    (
        "an unknown kind",
        "UPDATE ledger_entries SET kind = 'gift' WHERE wallet_id = 1 AND seq = 7",
        "entry 7 of wallet 1: its hash is wrong",
    ),
    (
        "an unknown account",
        "UPDATE postings SET account = 'mine' WHERE id = 1",
        "has the account \"mine\", which this version does not know",
    ),
    ("half a hash", "UPDATE wallets SET head = {bytes 00} WHERE user_id = 1", "wallet 1 cannot be read"),
];
