ALTER TABLE topups DROP COLUMN reference;
