-- The hash of the cookie of a browser's session. Other sessions have refresh tokens.
ALTER TABLE sessions ADD COLUMN cookie_hash BLOB
    CONSTRAINT sessions_cookie_hash_check CHECK (length(cookie_hash) = 32);
-- Each cookie belongs to one session. Sessions without a cookie cost nothing.
CREATE UNIQUE INDEX sessions_cookie_hash_key ON sessions (cookie_hash) WHERE cookie_hash IS NOT NULL;
