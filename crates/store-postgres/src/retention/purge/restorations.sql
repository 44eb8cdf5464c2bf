-- Deletes a batch of challenges that restored an e-mail address past their retention, by the server's clock and by the database's.
-- $1: now, by the server's clock.
-- $2: the retention.
-- $3: the maximum number of rows.
-- Index: challenges_by_age.
DELETE FROM challenges
WHERE id IN (
    SELECT id FROM challenges
    WHERE issued_at <= least($1::timestamptz, now()) - $2::interval AND purpose = 'email_restore'
    LIMIT $3::bigint
)
