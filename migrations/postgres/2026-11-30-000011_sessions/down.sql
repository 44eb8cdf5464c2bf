-- A session without its cookie cannot be used, and expires.
ALTER TABLE sessions DROP COLUMN cookie_hash;
