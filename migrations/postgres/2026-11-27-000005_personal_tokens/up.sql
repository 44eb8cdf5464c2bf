-- The sessions that are personal access tokens of programs.
CREATE TABLE personal_tokens (
    session_id bigint PRIMARY KEY REFERENCES sessions ON DELETE CASCADE,
    name text NOT NULL CONSTRAINT personal_tokens_name_check CHECK (char_length(name) BETWEEN 1 AND 255),
    hash bytea NOT NULL
        CONSTRAINT personal_tokens_hash_key UNIQUE
        CONSTRAINT personal_tokens_hash_check CHECK (octet_length(hash) = 32),
    scopes text NOT NULL CONSTRAINT personal_tokens_scopes_check CHECK (char_length(scopes) BETWEEN 1 AND 255)
);
