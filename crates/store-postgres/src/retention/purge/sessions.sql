-- Deletes a batch of sessions past their retention, by the server's clock and by the database's.
-- $1: now, by the server's clock.
-- $2: the retention.
-- $3: the maximum number of rows.
-- Index: sessions_by_end.
DELETE FROM sessions
WHERE id IN (
    SELECT id FROM sessions
    WHERE least(ended_at, expires_at) <= least($1::timestamptz, now()) - $2::interval
    LIMIT $3::bigint
)
