-- The hash of the cookie of a browser's session. Other sessions have refresh tokens.
ALTER TABLE sessions
    ADD COLUMN cookie_hash bytea,
    ADD CONSTRAINT sessions_cookie_hash_check CHECK (octet_length(cookie_hash) = 32) NOT VALID;
