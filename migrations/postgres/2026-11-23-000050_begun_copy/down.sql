ALTER TABLE deployment DROP COLUMN begun_copy_id;
