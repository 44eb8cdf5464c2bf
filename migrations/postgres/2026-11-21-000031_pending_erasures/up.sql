-- Whether rows are left that tell who an erased person was: a background job removes them.
ALTER TABLE users ADD COLUMN erasure_pending boolean NOT NULL DEFAULT false;
