-- The sessions that are personal access tokens of programs.
CREATE TABLE personal_tokens (
    session_id INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    name TEXT NOT NULL CONSTRAINT personal_tokens_name_check CHECK (length(name) BETWEEN 1 AND 255),
    hash BLOB NOT NULL CONSTRAINT personal_tokens_hash_check CHECK (length(hash) = 32),
    scopes TEXT NOT NULL CONSTRAINT personal_tokens_scopes_check CHECK (length(scopes) BETWEEN 1 AND 255),
    CONSTRAINT personal_tokens_hash_key UNIQUE (hash)
) STRICT;
