-- Deletes a batch of refresh tokens past their retention, by the server's clock and by the database's.
-- $1: now, by the server's clock.
-- $2: the retention.
-- $3: the maximum number of rows.
-- Index: refresh_tokens_by_end.
DELETE FROM refresh_tokens
WHERE hash IN (
    SELECT hash FROM refresh_tokens
    WHERE expires_at <= least($1::timestamptz, now()) - $2::interval
    LIMIT $3::bigint
)
