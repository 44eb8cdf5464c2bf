-- Fails where a top-up was reversed.
ALTER TABLE topups
    DROP CONSTRAINT topups_settled_were_suspended,
    DROP CONSTRAINT topups_suspended_have_failed,
    DROP COLUMN settled_reason,
    DROP COLUMN settled_by,
    DROP COLUMN settled_at,
    DROP COLUMN settled_operation,
    DROP COLUMN suspense_at,
    DROP COLUMN suspense_operation,
    DROP CONSTRAINT topups_status_check,
    ADD CONSTRAINT topups_status_check CHECK (status IN ('pending', 'confirmed', 'failed'));
