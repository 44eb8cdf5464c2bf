-- Secrets that were sent to prove an address, as what they hash to; kept for a day, to count them.
CREATE TABLE challenges (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users,
    purpose text NOT NULL CHECK (purpose IN ('email', 'phone', 'password')),
    target text NOT NULL CHECK (char_length(target) BETWEEN 1 AND 1024),
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    issued_at timestamptz NOT NULL,
    attempts smallint NOT NULL CHECK (attempts >= 0),
    ended_at timestamptz
);
-- The newest of a person for a purpose.
CREATE INDEX challenges_of_user ON challenges (user_id, purpose, id DESC);
-- Those that were sent to an address, whosever it is.
CREATE INDEX challenges_to_target ON challenges (target, purpose, issued_at);
-- Only the newest can still be answered.
CREATE UNIQUE INDEX challenges_one_open ON challenges (user_id, purpose) WHERE ended_at IS NULL;
-- Who sets a new password says nothing but the secret.
CREATE INDEX challenges_for_passwords ON challenges (hash) WHERE purpose = 'password';
CREATE INDEX challenges_by_age ON challenges (issued_at);
