-- Deletes a batch of the blocks by a user and of the user. They are locked in one order, since two users who
-- blocked each other may be erased at once.
-- $1: the user.
-- $2: the maximum number of rows.
-- Index: blocks_of_dj, blocks_of_guest_newest.
DELETE FROM blocks
WHERE (dj_id, guest_id) IN (
    SELECT dj_id, guest_id FROM blocks
    WHERE dj_id = $1::bigint OR guest_id = $1::bigint
    ORDER BY dj_id, guest_id
    LIMIT $2::bigint
    FOR UPDATE
)
