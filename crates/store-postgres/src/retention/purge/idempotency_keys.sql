-- Deletes a batch of idempotency keys past their retention, by the server's clock and by the database's.
-- $1: now, by the server's clock.
-- $2: the retention.
-- $3: the maximum number of rows.
-- Index: idempotency_keys_by_age.
DELETE FROM idempotency_keys
WHERE scope IN (
    SELECT scope FROM idempotency_keys
    WHERE at <= least($1::timestamptz, now()) - $2::interval
    LIMIT $3::bigint
)
