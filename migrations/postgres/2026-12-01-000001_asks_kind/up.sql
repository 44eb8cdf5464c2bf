-- During an upgrade, servers of the previous version insert gigs without this column.
ALTER TABLE gigs ADD COLUMN asks_kind boolean NOT NULL DEFAULT false;
