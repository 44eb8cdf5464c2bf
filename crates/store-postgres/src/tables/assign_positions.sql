-- Assigns the next positions to operations, in their order, behind the newest position and the newest gap. The
-- transaction holds the lock of positions.
-- $1: the operations.
-- $2, $3: the owner and the DJ whom each of them concerns; NULL for nobody.
-- Index: operations_position_key, whose condition is repeated.
WITH newest AS (
    SELECT greatest(max(position), (SELECT max(next) - 1 FROM position_gaps), 0) AS position
    FROM operations
    WHERE position > 0
)
UPDATE operations SET position = newest.position + waiting.place, owner_id = waiting.owner_id, dj_id = waiting.dj_id
FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) WITH ORDINALITY AS waiting (id, owner_id, dj_id, place), newest
WHERE operations.id = waiting.id
