-- Fails where two operations have one position.
CREATE UNIQUE INDEX operations_position_key ON operations (position);
-- The events of one user, and the search for those of the owners of webhook endpoints.
CREATE INDEX operations_of_owner ON operations (owner_id, position) WHERE owner_id IS NOT NULL;
CREATE INDEX operations_of_dj ON operations (dj_id, position) WHERE dj_id IS NOT NULL;
DROP INDEX operations_by_position;
