-- Returns the provider messages about a user's top-ups and withdrawals, newest first, from a position on.
-- They are looked up by the user's rows, whose number determines the cost.
-- $1: the user.
-- $2: the position: an id.
-- $3: the maximum number of rows.
-- Index: provider_messages_about_rows, topups_of_user, withdrawals_of_user.
SELECT id, resolved_at, resolved_by, resolution, source, webhook_id, kind, reason_code, reference, stated_id, row_id,
    amount, currency, txid, received_at
FROM provider_messages
WHERE id < $2::bigint
    AND (source, row_id) IN (
        SELECT 'topups', id FROM topups WHERE user_id = $1::bigint
        UNION ALL
        SELECT 'payouts', id FROM withdrawals WHERE user_id = $1::bigint
    )
ORDER BY id DESC
LIMIT $3::bigint
