CREATE TABLE challenges_without_address (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id),
    purpose TEXT NOT NULL CONSTRAINT challenges_purpose_check CHECK (purpose IN ('email', 'phone', 'password')),
    target TEXT NOT NULL CONSTRAINT challenges_target_check CHECK (length(target) BETWEEN 1 AND 1024),
    hash BLOB NOT NULL CONSTRAINT challenges_hash_check CHECK (length(hash) = 32),
    issued_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL CONSTRAINT challenges_attempts_check CHECK (attempts BETWEEN 0 AND 32767),
    ended_at INTEGER
) STRICT;
INSERT INTO challenges_without_address (id, user_id, purpose, target, hash, issued_at, attempts, ended_at)
    SELECT id, user_id, purpose, target, hash, issued_at, attempts, ended_at FROM challenges WHERE address IS NULL;
DROP TABLE challenges;
ALTER TABLE challenges_without_address RENAME TO challenges;
CREATE INDEX challenges_of_user ON challenges (user_id, purpose, id DESC);
CREATE INDEX challenges_to_target ON challenges (target, purpose, issued_at);
-- Only the newest of a purpose can be answered.
CREATE UNIQUE INDEX challenges_one_open ON challenges (user_id, purpose) WHERE ended_at IS NULL;
CREATE INDEX challenges_for_passwords ON challenges (hash) WHERE purpose = 'password';
CREATE INDEX challenges_by_age ON challenges (issued_at);
