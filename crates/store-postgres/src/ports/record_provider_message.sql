-- Adds a provider message unless it is known or too many are unresolved; counts no further than that limit.
-- $1 to $11: the columns.
-- $12: the maximum number of unresolved messages.
-- Index: provider_messages_unresolved_first.
INSERT INTO provider_messages (source, webhook_id, kind, reason_code, reference, stated_id, row_id, amount, currency, txid,
    received_at)
SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::bigint, $7::bigint, $8::text, $9::text, $10::text,
    $11::timestamptz
WHERE (
    SELECT count(*) FROM (
        SELECT FROM provider_messages WHERE resolved_at IS NULL LIMIT $12::bigint
    ) AS unresolved
) < $12::bigint
ON CONFLICT (source, webhook_id) DO NOTHING
