-- Redacts a batch of the receipts past their retention, by the server's clock and by the database's, and
-- skips the batch of another server. Returns the position of the last one, or no row if none was due.
-- $1, $2: the position of the last receipt of the previous batch: its time and id.
-- $3: now, by the server's clock.
-- $4: the retention.
-- $5: the maximum number of rows.
-- Index: operations_whole_profiles, whose condition is repeated.
WITH batch AS (
    SELECT id, at FROM operations
    WHERE (receipt -> 'profile') ? 'balance'
        AND (at, id) > ($1::timestamptz, $2::uuid)
        AND at <= least($3::timestamptz, now()) - $4::interval
    ORDER BY at, id
    LIMIT $5::bigint
    FOR NO KEY UPDATE SKIP LOCKED
), redacted AS (
    UPDATE operations
    SET receipt = jsonb_build_object('profile', jsonb_build_object('user',
        jsonb_build_object('id', operations.receipt #> '{profile,user,id}')))
    FROM batch
    WHERE operations.id = batch.id
)
SELECT at, id FROM batch ORDER BY at DESC, id DESC LIMIT 1
