-- The id of the copy that was begun into this database, and may have been interrupted.
ALTER TABLE deployment ADD COLUMN begun_copy_id uuid;
