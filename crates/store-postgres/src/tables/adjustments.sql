-- Returns the adjustments of wallets by users after a time: the wallet, the user, and the time of the entry.
-- $1: the wallets.
-- $2: the time.
-- Index: ledger_entries_adjustments, whose condition is repeated.
SELECT entry.wallet_id, operation.actor_user_id, entry.at
FROM ledger_entries AS entry
JOIN operations AS operation ON operation.id = entry.operation_id
WHERE entry.wallet_id = ANY ($1::bigint[])
    AND entry.at > $2::timestamptz
    AND entry.kind = 'adjustment'
    AND operation.actor_user_id IS NOT NULL
