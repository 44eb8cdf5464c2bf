-- A session without its cookie cannot be used, and expires.
DROP INDEX sessions_cookie_hash_key;
ALTER TABLE sessions DROP COLUMN cookie_hash;
