-- The mark of a copy to another store, and the id of the copy that wrote the database. A copy is `moving` from before its
-- commit until after it, then `moved`; servers refuse a marked database. `timeline` is that of the newest operations; a
-- failover begins a newer one. `begun_copy_id` is the copy that was begun into this database, and may have been
-- interrupted.
ALTER TABLE deployment
    ADD COLUMN copy_state text CHECK (copy_state IN ('moving', 'moved')),
    ADD COLUMN copy_id uuid,
    ADD COLUMN copy_target text CHECK (length(copy_target) BETWEEN 1 AND 8192),
    ADD COLUMN origin_copy_id uuid,
    ADD CONSTRAINT deployment_copy_is_identified CHECK (
        (copy_state IS NULL) = (copy_id IS NULL) AND (copy_state IS NULL) = (copy_target IS NULL)
    ),
    ADD COLUMN timeline bigint CHECK (timeline >= 0),
    ADD COLUMN begun_copy_id uuid;
