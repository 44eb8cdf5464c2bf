-- Deletes a batch of networks of logins past their retention, by the server's clock and by the database's.
-- $1: now, by the server's clock.
-- $2: the retention.
-- $3: the maximum number of rows.
-- Index: login_networks_by_age.
DELETE FROM login_networks
WHERE id IN (
    SELECT id FROM login_networks
    WHERE seen_at <= least($1::timestamptz, now()) - $2::interval
    LIMIT $3::bigint
)
