-- In one step, without expanding first: no version before this one was released, so that no older server runs beside it.

CREATE SEQUENCE session_ids AS bigint INCREMENT BY 32;

-- One login each, from where it came, and how long its newest refresh token lives.
CREATE TABLE sessions (
    id bigint PRIMARY KEY CHECK (id > 0),
    user_id bigint NOT NULL REFERENCES users,
    began_at timestamptz NOT NULL,
    used_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,
    address text CHECK (char_length(address) BETWEEN 2 AND 45),
    agent text CHECK (char_length(agent) BETWEEN 1 AND 255)
);

-- Whoever is logged in stays so: each family of tokens becomes a session.
ALTER TABLE refresh_tokens ADD COLUMN session_id bigint REFERENCES sessions ON DELETE CASCADE;
CREATE TEMPORARY TABLE numbered ON COMMIT DROP AS
    SELECT id AS family_id, row_number() OVER (ORDER BY created_at, id) AS session_id FROM refresh_token_families;
INSERT INTO sessions (id, user_id, began_at, used_at, expires_at, ended_at)
    SELECT numbered.session_id, family.user_id, family.created_at, max(token.issued_at), max(token.expires_at),
        family.ended_at
    FROM refresh_token_families AS family
    JOIN numbered ON numbered.family_id = family.id
    JOIN refresh_tokens AS token ON token.family_id = family.id
    GROUP BY numbered.session_id, family.user_id, family.created_at, family.ended_at;
UPDATE refresh_tokens AS token SET session_id = numbered.session_id
    FROM numbered WHERE numbered.family_id = token.family_id;
SELECT setval('session_ids', max(id)) FROM sessions HAVING max(id) IS NOT NULL;
ALTER TABLE refresh_tokens ALTER COLUMN session_id SET NOT NULL, DROP COLUMN family_id;
DROP TABLE refresh_token_families;

-- Of a session only the newest token is unused.
CREATE UNIQUE INDEX refresh_tokens_one_unused ON refresh_tokens (session_id) WHERE used_at IS NULL;
CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_id);
-- A person's, the newest first.
CREATE INDEX sessions_of_user ON sessions (user_id, began_at DESC, id DESC);
-- Those that ended since a moment.
CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;
-- Those that are no longer kept.
CREATE INDEX sessions_by_end ON sessions (least(ended_at, expires_at));
