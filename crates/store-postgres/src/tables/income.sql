-- Returns the income of wallets in a time: the wallet, the time, and the changes of the available and the owed balance.
-- $1: the wallets.
-- $2: the beginning, excluded.
-- $3: the end, included.
-- Index: ledger_entries_income, whose condition is repeated.
SELECT entry.wallet_id, entry.at, entry.available_change, entry.owed_change
FROM ledger_entries AS entry
WHERE entry.wallet_id = ANY ($1::bigint[])
    AND entry.at > $2::timestamptz
    AND entry.at <= $3::timestamptz
    AND entry.kind IN ('topup', 'earning')
