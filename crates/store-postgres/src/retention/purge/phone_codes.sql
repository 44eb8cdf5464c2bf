-- Deletes a batch of counted phone codes past their retention, by the server's clock and by the database's.
-- $1: now, by the server's clock.
-- $2: the retention.
-- $3: the maximum number of rows.
-- Index: phone_codes_by_age.
DELETE FROM phone_codes
WHERE id IN (
    SELECT id FROM phone_codes
    WHERE sent_at <= least($1::timestamptz, now()) - $2::interval
    LIMIT $3::bigint
)
