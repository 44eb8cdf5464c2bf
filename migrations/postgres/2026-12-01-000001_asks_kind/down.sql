ALTER TABLE gigs DROP COLUMN asks_kind;
