-- Returns the first entry without its music request, withdrawal, top-up, tip or adjustment; for the ledger audit,
-- after it found such entries.
-- $1 to $5: the reference kinds of music requests, withdrawals, top-ups, tips and adjustments.
-- $6: the operation kind of adjustments.
-- Index: the primary keys; the entries are read in their order until one is found.
SELECT wallet_id, seq, operation_id, kind, reference_kind, reference_id, available_change, held_change, owed_change,
    available_after, held_after, owed_after, at, previous, hash
FROM ledger_entries AS entry
WHERE NOT EXISTS (SELECT FROM music_requests WHERE entry.reference_kind = $1::text AND id = entry.reference_id)
    AND NOT EXISTS (SELECT FROM withdrawals WHERE entry.reference_kind = $2::text AND id = entry.reference_id)
    AND NOT EXISTS (SELECT FROM topups WHERE entry.reference_kind = $3::text AND id = entry.reference_id)
    AND NOT EXISTS (SELECT FROM tips WHERE entry.reference_kind = $4::text AND id = entry.reference_id)
    AND NOT EXISTS (
        SELECT FROM operations
        WHERE entry.reference_kind = $5::text AND operations.kind = $6::text AND operations.id = entry.operation_id
    )
ORDER BY wallet_id, seq
LIMIT 1
