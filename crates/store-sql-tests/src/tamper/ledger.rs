//! Tampering with entries, wallets and postings.

use super::Case;

/// The cases; wallets as [`super::populate`] leaves them.
pub(crate) const LEDGER: &[Case] = &[
    (
        "an amount",
        "UPDATE ledger_entries SET available_change = available_change + {money 0.01} WHERE wallet_id = 1 AND seq = 3",
        "entry 3 of wallet 1: the balances after it",
    ),
    (
        "a balance after an entry",
        "UPDATE ledger_entries SET held_after = held_after + {money 1} WHERE wallet_id = 1 AND seq = 16",
        "entry 16 of wallet 1: the balances after it",
    ),
    (
        "an amount with the balance after it",
        "UPDATE ledger_entries SET available_change = {money 8}, available_after = available_after + {money 1} \
            WHERE wallet_id = 1 AND seq = 16",
        "entry 16 of wallet 1: its hash",
    ),
    (
        "a deleted first entry",
        "DELETE FROM ledger_entries WHERE wallet_id = 1 AND seq = 1",
        "entry 2 where entry 1",
    ),
    (
        "a deleted entry in the middle",
        "DELETE FROM ledger_entries WHERE wallet_id = 1 AND seq = 8",
        "wallet 1 has entry 9 where entry 8 should be",
    ),
    (
        "a deleted newest entry",
        "DELETE FROM ledger_entries WHERE wallet_id = 1 AND seq = 16",
        "entry 16 of wallet 1 is missing",
    ),
    (
        "a deleted newest entry, the wallet set to the one before",
        "DELETE FROM ledger_entries WHERE wallet_id = 1 AND seq = 16; \
            UPDATE wallets SET (available, held, owed, seq, last_at, head) = \
            (SELECT available_after, held_after, owed_after, seq, at, hash FROM ledger_entries \
            WHERE wallet_id = 1 AND seq = 15) WHERE user_id = 1",
        "adjustment 1: its adjustment entry is missing",
    ),
    (
        "all entries of a wallet deleted, the wallet emptied",
        "DELETE FROM ledger_entries WHERE wallet_id = 2; \
            UPDATE wallets SET available = 0, held = 0, owed = 0, seq = 0, last_at = {time 0}, \
            head = {zero} WHERE user_id = 2",
        "music request 3: its earning entry is missing",
    ),
    (
        "two swapped entries",
        "UPDATE ledger_entries SET seq = 1003 WHERE wallet_id = 1 AND seq = 3; \
            UPDATE ledger_entries SET seq = 3 WHERE wallet_id = 1 AND seq = 5; \
            UPDATE ledger_entries SET seq = 5 WHERE wallet_id = 1 AND seq = 1003",
        "entry 3 of wallet 1: its hash",
    ),
    (
        "an entry's number",
        "UPDATE ledger_entries SET seq = 17 WHERE wallet_id = 1 AND seq = 16",
        "wallet 1 has entry 17 where entry 16 should be",
    ),
    (
        "an entry's kind",
        "UPDATE ledger_entries SET kind = 'refund' WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "what an entry is about",
        "UPDATE ledger_entries SET reference_id = 1 WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry's operation",
        "UPDATE ledger_entries SET operation_id = {new id} WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry's time",
        "UPDATE ledger_entries SET at = at + {interval 1 microsecond} WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry's hash",
        "UPDATE ledger_entries SET hash = previous WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry's link",
        "UPDATE ledger_entries SET previous = hash WHERE wallet_id = 1 AND seq = 4",
        "entry 4 of wallet 1: its hash",
    ),
    (
        "an entry moved to another wallet",
        "UPDATE ledger_entries SET wallet_id = 3, seq = 1 WHERE wallet_id = 1 AND seq = 16",
        "entry 16 of wallet 1 is missing",
    ),
    (
        "an entry of a missing wallet",
        "INSERT INTO ledger_entries SELECT 99, seq, operation_id, kind, reference_kind, reference_id, available_change, \
            held_change, owed_change, available_after, held_after, owed_after, at, previous, hash \
            FROM ledger_entries WHERE wallet_id = 1 AND seq = 1",
        "entry 1 of wallet 99 belongs to no wallet",
    ),
    (
        "a balance",
        "UPDATE wallets SET available = available + {money 1} WHERE user_id = 1",
        "wallet 1: its balance",
    ),
    (
        "a balance moved to another wallet",
        "UPDATE wallets SET available = available + CASE user_id WHEN 1 THEN {money -1} ELSE {money 1} END WHERE user_id IN (1, 2)",
        "wallet 1: its balance",
    ),
    (
        "a hold given back by hand",
        "UPDATE wallets SET available = available + held, held = 0 WHERE user_id = 1",
        "wallet 1: its balance",
    ),
    ("a debt", "UPDATE wallets SET owed = {money 5} WHERE user_id = 2", "wallet 2: its balance"),
    (
        "a wallet's time",
        "UPDATE wallets SET last_at = last_at + {interval 1 microsecond} WHERE user_id = 1",
        "wallet 1: its balance, time or head",
    ),
    ("a wallet's number lowered", "UPDATE wallets SET seq = 15 WHERE user_id = 1", "wallet 1: its balance"),
    (
        "a wallet's number raised",
        "UPDATE wallets SET seq = 17 WHERE user_id = 1",
        "entry 17 of wallet 1 is missing",
    ),
    ("a wallet's head", "UPDATE wallets SET head = {link} WHERE user_id = 1", "wallet 1: its balance"),
    ("a deleted wallet", "DELETE FROM wallets WHERE user_id = 2", "entry 1 of wallet 2 belongs to no wallet"),
    (
        "a fabricated wallet",
        "INSERT INTO wallets SELECT 99, {money 5}, 0, 0, 0, {time 0}, {zero}",
        "wallet 99: its balance",
    ),
    (
        "a posting's amount",
        "UPDATE postings SET amount = {money -99} WHERE id = 1",
        "top-up 1: the postings of operation",
    ),
    (
        "a posting's account",
        "UPDATE postings SET account = 'outside_adjustments' WHERE id = 1",
        "top-up 1: the postings of operation",
    ),
    (
        "a posting's time",
        "UPDATE postings SET at = at + {interval 1 day} WHERE id = 1",
        "top-up 1: the postings of operation",
    ),
    (
        "a deleted posting of the platform",
        "DELETE FROM postings WHERE id = (SELECT min(id) FROM postings WHERE account = 'platform_commission')",
        "music request 3: the postings of operation",
    ),
    (
        "two postings that cancel each other, in an operation",
        "INSERT INTO postings (operation_id, account, amount, at) SELECT operation_id, account, side, at \
            FROM postings, (SELECT {money 5} AS side UNION ALL SELECT {money -5}) AS sides WHERE id = 1",
        "top-up 1: the postings of operation",
    ),
    (
        "two postings that cancel each other, in no operation",
        "INSERT INTO postings (operation_id, account, amount, at) SELECT {new id}, account, side, at \
            FROM postings, (SELECT {money 5} AS side UNION ALL SELECT {money -5}) AS sides WHERE id = 1",
        "a posting to outside_topups belongs to operation",
    ),
    (
        "the postings of two top-ups swapped",
        "UPDATE postings SET operation_id = other.operation_id FROM postings AS other \
            WHERE other.account = 'outside_topups' AND other.id <> postings.id AND other.id <= 7 \
            AND postings.account = 'outside_topups' AND postings.id <= 7",
        "top-up 1: the postings of operation",
    ),
];
