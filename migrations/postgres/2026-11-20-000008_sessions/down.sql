CREATE TABLE refresh_token_families (
    id uuid PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users,
    ended_at timestamptz,
    created_at timestamptz NOT NULL
);
CREATE INDEX refresh_token_families_of_user ON refresh_token_families (user_id);

ALTER TABLE refresh_tokens ADD COLUMN family_id uuid REFERENCES refresh_token_families ON DELETE CASCADE;
CREATE TEMPORARY TABLE named ON COMMIT DROP AS SELECT id AS session_id, gen_random_uuid() AS family_id FROM sessions;
INSERT INTO refresh_token_families (id, user_id, ended_at, created_at)
    SELECT named.family_id, session.user_id, session.ended_at, session.began_at
    FROM sessions AS session JOIN named ON named.session_id = session.id;
UPDATE refresh_tokens AS token SET family_id = named.family_id
    FROM named WHERE named.session_id = token.session_id;
ALTER TABLE refresh_tokens ALTER COLUMN family_id SET NOT NULL, DROP COLUMN session_id;
DROP TABLE sessions;
DROP SEQUENCE session_ids;

CREATE UNIQUE INDEX refresh_tokens_one_unused ON refresh_tokens (family_id) WHERE used_at IS NULL;
CREATE INDEX refresh_tokens_of_family ON refresh_tokens (family_id);
