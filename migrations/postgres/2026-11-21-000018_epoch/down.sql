ALTER TABLE deployment DROP COLUMN epoch, DROP COLUMN system_identifier;
