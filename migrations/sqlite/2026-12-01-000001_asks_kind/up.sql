ALTER TABLE gigs ADD COLUMN asks_kind INTEGER NOT NULL DEFAULT 0 CONSTRAINT gigs_asks_kind_check CHECK (asks_kind IN (0, 1));
