-- The cluster that the data belongs to, and the epoch of the data. Access tokens carry the epoch, so that a
-- restore invalidates all earlier ones. `cuepoint restore` sets both; an epoch after the first is a random
-- number.
ALTER TABLE deployment
    ADD COLUMN system_identifier bigint NOT NULL DEFAULT (pg_control_system()).system_identifier,
    ADD COLUMN epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0);
