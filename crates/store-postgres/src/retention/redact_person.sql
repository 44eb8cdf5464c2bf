-- Redacts a batch of the receipts that show a user, and locks only those that it changes, in one order.
-- Returns the position of the last one, redacted or not, or no row if none was left.
-- $1: the user.
-- $2, $3: the position of the last receipt of the previous batch: its time and id.
-- $4: the maximum number of rows.
-- Index: operations_about_people, whose expression is repeated.
WITH batch AS (
    SELECT id, at, (receipt -> 'profile') ? 'balance' AS whole FROM operations
    WHERE receipt ? 'profile'
        AND coalesce(
            receipt #>> '{profile,user,id}',
            receipt #>> '{withdrawal,withdrawal,user_id}',
            receipt #>> '{request,requester_id}',
            receipt #>> '{topup,user_id}',
            receipt #>> '{adjustment,adjustment,user_id}'
        )::bigint = $1::bigint
        AND (at, id) > ($2::timestamptz, $3::uuid)
    ORDER BY at, id
    LIMIT $4::bigint
), locked AS (
    SELECT operations.id FROM operations
    JOIN batch ON operations.id = batch.id
    WHERE batch.whole
    ORDER BY batch.at, batch.id
    FOR NO KEY UPDATE OF operations
), redacted AS (
    UPDATE operations
    SET receipt = jsonb_build_object('profile', jsonb_build_object('user',
        jsonb_build_object('id', operations.receipt #> '{profile,user,id}')))
    FROM locked
    WHERE operations.id = locked.id
)
SELECT at, id FROM batch ORDER BY at DESC, id DESC LIMIT 1
