//! Tampering with requests, withdrawals, tips, top-ups and operations.

use super::Case;

/// The cases; entities as [`super::populate`] leaves them.
pub(crate) const ENTITIES: &[Case] = &[
    (
        "a fee times ten",
        "UPDATE music_requests SET fee = fee * 10 WHERE id = 1",
        "music request 1: entry 2 of wallet 1",
    ),
    ("a zero fee", "UPDATE music_requests SET fee = 0 WHERE id = 1", "music request 1: entry 2 of wallet 1"),
    (
        "a pending request played",
        "UPDATE music_requests SET status = 'played', expires_at = NULL, commission = {money 1} WHERE id = 1",
        "music request 1: its capture entry is missing",
    ),
    (
        "a pending request rejected",
        "UPDATE music_requests SET status = 'rejected', expires_at = NULL WHERE id = 1",
        "music request 1: its release entry is missing",
    ),
    (
        "a rejected request cancelled",
        "UPDATE music_requests SET status = 'cancelled' WHERE id = 2",
        "music request 2: it differs from the record of operation",
    ),
    (
        "a rejected request pending again",
        "UPDATE music_requests SET status = 'pending', expires_at = changed_at WHERE id = 2",
        "music request 2: entry 4 of wallet 1 is superfluous",
    ),
    (
        "a played request accepted again",
        "UPDATE music_requests SET status = 'accepted', expires_at = changed_at, commission = NULL WHERE id = 3",
        "music request 3: entry 6 of wallet 1 is superfluous",
    ),
    (
        "a refunded request played again",
        "UPDATE music_requests SET status = 'played' WHERE id = 4",
        "music request 4: entry 9 of wallet 1 is superfluous",
    ),
    (
        "a played request refunded",
        "UPDATE music_requests SET status = 'refunded' WHERE id = 3",
        "music request 3: its refund entry is missing",
    ),
    (
        "a commission",
        "UPDATE music_requests SET commission = {money 2} WHERE id = 3",
        "music request 3: entry 1 of wallet 2",
    ),
    (
        "a commission above its fee",
        "UPDATE music_requests SET commission = {money 11} WHERE id = 3",
        "music request 3: entry 6 of wallet 1 does not match",
    ),
    (
        "another DJ",
        "UPDATE music_requests SET dj_id = 3 WHERE id = 3",
        "music request 3: its earning entry is missing",
    ),
    (
        "another song",
        "UPDATE music_requests SET song_title = 'x' WHERE id = 1",
        "music request 1: it differs from",
    ),
    (
        "another standing of its guest",
        "UPDATE music_requests SET counts_as_guest = true WHERE id = 1",
        "music request 1: it differs from",
    ),
    (
        "a deleted request",
        "DELETE FROM music_requests WHERE id = 3",
        "entry 5 of wallet 1 refers to music request 3, which does not exist",
    ),
    (
        "a withdrawal's amount",
        "UPDATE withdrawals SET amount = {money 6} WHERE id = 1",
        "withdrawal 1: entry 10 of wallet 1",
    ),
    (
        "a withdrawal's address",
        "UPDATE withdrawals SET wallet_address = 'mine' WHERE id = 1",
        "withdrawal 1: it differs from the record of operation",
    ),
    (
        "a withdrawal's reference",
        "UPDATE withdrawals SET reference = {new id} WHERE id = 1",
        "withdrawal 1: it differs from the record of operation",
    ),
    (
        "a withdrawal's lost reference",
        "UPDATE withdrawals SET reference = NULL WHERE id = 2",
        "withdrawal 2: it differs from the record of operation",
    ),
    (
        "a reference of an older withdrawal, which has none",
        "UPDATE operations SET receipt = {without withdrawal.withdrawal.reference} \
            WHERE {read withdrawal.withdrawal.id} = '3'",
        "withdrawal 3: it differs from the record of operation",
    ),
    (
        "the reference that an operation recorded of a withdrawal",
        "UPDATE operations SET receipt = {with withdrawal.withdrawal.reference \
            \"00000000-0000-7000-8000-000000000000\"} WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 1 AND seq = 12)",
        "withdrawal 2: it differs from the record of operation",
    ),
    (
        "a pending withdrawal completed",
        "UPDATE withdrawals SET status = 'completed', txid = 'x' WHERE id = 1",
        "withdrawal 1: its capture entry is missing",
    ),
    (
        "a completed withdrawal approved again",
        "UPDATE withdrawals SET status = 'approved', txid = NULL WHERE id = 2",
        "withdrawal 2: entry 12 of wallet 1 is superfluous",
    ),
    (
        "a completed withdrawal failed",
        "UPDATE withdrawals SET status = 'failed' WHERE id = 2",
        "withdrawal 2: entry 12 of wallet 1 does not match",
    ),
    (
        "another transaction",
        "UPDATE withdrawals SET txid = 'x' WHERE id = 2",
        "withdrawal 2: it differs from the record of operation",
    ),
    (
        "a cancelled withdrawal rejected",
        "UPDATE withdrawals SET status = 'rejected' WHERE id = 3",
        "withdrawal 3: it differs from the record of operation",
    ),
    (
        "a withdrawal of no wallet",
        "UPDATE withdrawals SET user_id = 99 WHERE id = 1",
        "withdrawal 1: its hold entry is missing",
    ),
    (
        "a deleted withdrawal",
        "DELETE FROM withdrawals WHERE id = 1",
        "entry 10 of wallet 1 refers to withdrawal 1, which does not exist",
    ),
    (
        "a tip's amount",
        "UPDATE tips SET amount = {money 3} WHERE id = 1",
        "tip 1: entry 2 of wallet 10 does not match",
    ),
    (
        "a tip's commission",
        "UPDATE tips SET commission = 0 WHERE id = 1",
        "tip 1: entry 1 of wallet 11 does not match",
    ),
    (
        "a tip's commission above its amount",
        "UPDATE tips SET commission = {money 3} WHERE id = 1",
        "tip 1: its amounts contradict each other",
    ),
    ("a tip to another DJ", "UPDATE tips SET dj_id = 2 WHERE id = 1", "tip 1: its earning entry is missing"),
    (
        "a tip of another guest",
        "UPDATE tips SET guest_id = 1 WHERE id = 1",
        "tip 1: its tip entry is missing",
    ),
    (
        "a tip in another gig",
        "UPDATE tips SET gig_id = 2 WHERE id = 1",
        "tip 1: it differs from the record of operation",
    ),
    (
        "a tip's time",
        "UPDATE tips SET created_at = created_at + {interval 1 microsecond} WHERE id = 1",
        "tip 1: it differs from the record of operation",
    ),
    (
        "a tip's time, also in the record of its operation",
        "UPDATE tips SET created_at = created_at + {interval 1 microsecond} WHERE id = 1; \
            UPDATE operations SET receipt = {with tip.tip.created_at \"1767225600000001\"} \
            WHERE {read tip.tip.id} = '1'",
        "tip 1: it differs from the record of operation",
    ),
    (
        "a copied tip",
        "INSERT INTO tips SELECT id + 1, guest_id, dj_id, gig_id, amount, commission, created_at FROM tips",
        "tip 2: its tip entry is missing",
    ),
    (
        "a deleted tip",
        "DELETE FROM tips WHERE id = 1",
        "entry 2 of wallet 10 refers to tip 1, which does not exist",
    ),
    (
        "a pending top-up confirmed",
        "UPDATE topups SET status = 'confirmed' WHERE id = 2",
        "top-up 2: its topup entry is missing",
    ),
    (
        "a confirmed top-up failed",
        "UPDATE topups SET status = 'failed' WHERE id = 3",
        "top-up 3: entry 15 of wallet 1",
    ),
    (
        "a top-up's amount",
        "UPDATE topups SET amount = {money 1000} WHERE id = 1",
        "top-up 1: entry 1 of wallet 1",
    ),
    (
        "a top-up's reference",
        "UPDATE topups SET reference = {new id} WHERE id = 1",
        "top-up 1: it differs from the record of operation",
    ),
    (
        "the lost reference of a top-up that was confirmed later",
        "UPDATE topups SET reference = NULL WHERE id = 3",
        "top-up 3: it differs from the record of operation",
    ),
    (
        "the page on which a payment began",
        "UPDATE topups SET page_code = 'K7TW3M' WHERE id = 1",
        "top-up 1: it differs from the record of operation",
    ),
    (
        "another's top-up",
        "UPDATE topups SET user_id = 2 WHERE id = 1",
        "top-up 1: its topup entry is missing",
    ),
    (
        "a deleted top-up",
        "DELETE FROM topups WHERE id = 1",
        "entry 1 of wallet 1 refers to top-up 1, which does not exist",
    ),
    (
        "a deleted operation",
        "DELETE FROM operations WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 1 AND seq = 4)",
        "music request 2: the record of operation",
    ),
    (
        "a deleted operation that adjusts",
        "DELETE FROM operations WHERE kind = 'adjust'",
        "entry 16 of wallet 1 refers to adjustment 1, which does not exist",
    ),
    (
        "an operation's kind",
        "UPDATE operations SET kind = 'profile' WHERE kind = 'adjust'",
        "entry 16 of wallet 1 refers to adjustment 1, which does not exist",
    ),
    (
        "what an operation recorded",
        "UPDATE operations SET receipt = {with request.song_title \"x\"} \
            WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 1 AND seq = 4)",
        "music request 2: it differs from the record of operation",
    ),
    (
        "the balance that an operation recorded",
        "UPDATE operations SET receipt = {with adjustment.balance.available \"1.00\"} \
            WHERE kind = 'adjust'",
        "adjustment 1: it differs from the record of operation",
    ),
    (
        "an operation dated later than its entry",
        "UPDATE operations SET at = at + {interval 1 day} \
            WHERE id = (SELECT operation_id FROM ledger_entries WHERE wallet_id = 1 AND seq = 4)",
        "music request 2: entry 4 of wallet 1",
    ),
];
