-- Deletes a batch of the blocks by a person and of the person. They are locked in one order: two people who
-- blocked each other may be erased at once.
-- $1: the person.
-- $2: the most rows.
-- Index: blocks_of_dj, blocks_of_guest_newest.
DELETE FROM blocks
WHERE (dj_id, guest_id) IN (
    SELECT dj_id, guest_id FROM blocks
    WHERE dj_id = $1::bigint OR guest_id = $1::bigint
    ORDER BY dj_id, guest_id
    LIMIT $2::bigint
    FOR UPDATE
)
