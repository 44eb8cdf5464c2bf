ALTER TABLE operations
    DROP CONSTRAINT operations_position_check,
    DROP COLUMN dj_id,
    DROP COLUMN owner_id,
    DROP COLUMN position;
