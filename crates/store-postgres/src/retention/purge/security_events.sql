-- Deletes a batch of security events past their retention, by the server's clock and by the database's.
-- $1: now, by the server's clock.
-- $2: the retention.
-- $3: the maximum number of rows.
-- Index: security_events_by_age.
DELETE FROM security_events
WHERE id IN (
    SELECT id FROM security_events
    WHERE at <= least($1::timestamptz, now()) - $2::interval
    LIMIT $3::bigint
)
