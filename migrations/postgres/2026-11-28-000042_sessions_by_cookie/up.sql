-- Each cookie belongs to one session. Sessions without a cookie cost nothing.
DROP INDEX CONCURRENTLY IF EXISTS sessions_cookie_hash_key;
CREATE UNIQUE INDEX CONCURRENTLY sessions_cookie_hash_key
    ON sessions (cookie_hash) WHERE cookie_hash IS NOT NULL;
