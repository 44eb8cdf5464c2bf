-- Which values servers may write: those of the first version, until `cuepoint finalize-upgrade` raises it. The first start of
-- a new deployment writes the level of its version.
ALTER TABLE deployment ADD COLUMN feature_level smallint NOT NULL DEFAULT 0 CHECK (feature_level >= 0);
