-- Deletes a batch of dedications past their retention, by the server's clock and by the database's.
-- $1: now, by the server's clock.
-- $2: the retention.
-- $3: the maximum number of rows.
-- Index: request_messages_by_age.
DELETE FROM request_messages
WHERE request_id IN (
    SELECT request_id FROM request_messages
    WHERE created_at <= least($1::timestamptz, now()) - $2::interval
    LIMIT $3::bigint
)
