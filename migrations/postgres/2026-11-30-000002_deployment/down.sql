ALTER TABLE deployment
    DROP COLUMN begun_copy_id,
    DROP COLUMN timeline,
    DROP CONSTRAINT deployment_copy_is_identified,
    DROP COLUMN origin_copy_id,
    DROP COLUMN copy_target,
    DROP COLUMN copy_id,
    DROP COLUMN copy_state;
