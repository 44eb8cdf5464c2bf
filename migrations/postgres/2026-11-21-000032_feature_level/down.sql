ALTER TABLE deployment DROP COLUMN feature_level;
