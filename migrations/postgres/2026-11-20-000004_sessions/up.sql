-- All refresh tokens that descend from one login.
CREATE TABLE refresh_token_families (
    id uuid PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users,
    ended_at timestamptz,
    created_at timestamptz NOT NULL
);
CREATE INDEX refresh_token_families_of_user ON refresh_token_families (user_id);

CREATE TABLE refresh_tokens (
    hash bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
    family_id uuid NOT NULL REFERENCES refresh_token_families ON DELETE CASCADE,
    issued_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    used_at timestamptz
);
-- Of a family only the newest token is unused.
CREATE UNIQUE INDEX refresh_tokens_one_unused ON refresh_tokens (family_id) WHERE used_at IS NULL;
CREATE INDEX refresh_tokens_of_family ON refresh_tokens (family_id);
CREATE INDEX refresh_tokens_by_end ON refresh_tokens (expires_at);
