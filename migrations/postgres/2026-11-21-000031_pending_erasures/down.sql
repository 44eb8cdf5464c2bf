ALTER TABLE users DROP COLUMN erasure_pending;
