-- Returns the operation that has waited longest for its position, if it was decided long before the newest
-- operation with one. No operation has a position before the first server of this version starts.
-- $1: the time within which positions are assigned.
-- Index: operations_without_position, operations_position_key, whose conditions are repeated.
SELECT id FROM operations
WHERE position = 0
    AND at < (SELECT at FROM operations WHERE position > 0 ORDER BY position DESC LIMIT 1) - $1::interval
ORDER BY at, id
LIMIT 1
