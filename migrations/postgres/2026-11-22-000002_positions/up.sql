-- The place of an operation in the order of commits. Null: from before this migration. 0: committed by a
-- server of an earlier version, which does not name the column; a job assigns the position. The owner of the
-- entity and the DJ of a request are those whom the operation concerns, if it has an event.
ALTER TABLE operations
    ADD COLUMN position bigint,
    ADD COLUMN owner_id bigint,
    ADD COLUMN dj_id bigint;
ALTER TABLE operations
    ALTER COLUMN position SET DEFAULT 0,
    ADD CONSTRAINT operations_position_check CHECK (position >= 0) NOT VALID;
