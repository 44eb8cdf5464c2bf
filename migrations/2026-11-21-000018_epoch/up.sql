-- Which cluster the data was written on, and how often it was restored: access tokens carry the epoch, so that those of
-- before a restore are worth nothing after it. `cuepoint restore` changes both.
ALTER TABLE deployment
    ADD COLUMN system_identifier bigint NOT NULL DEFAULT (pg_control_system()).system_identifier,
    ADD COLUMN epoch bigint NOT NULL DEFAULT 0 CHECK (epoch >= 0);
