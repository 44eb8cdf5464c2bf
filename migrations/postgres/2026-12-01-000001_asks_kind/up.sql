-- A server of the version before writes gigs without the column.
ALTER TABLE gigs ADD COLUMN asks_kind boolean NOT NULL DEFAULT false;
