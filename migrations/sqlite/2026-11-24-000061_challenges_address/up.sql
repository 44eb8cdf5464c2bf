-- SQLite changes no check of a table: the table is built again, with the e-mail address that the right answer gives to
-- the user, as it was written.
CREATE TABLE challenges_with_address (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id),
    purpose TEXT NOT NULL CONSTRAINT challenges_purpose_check
        CHECK (purpose IN (
            'email', 'phone', 'password', 'email_change', 'email_restore', 'email_restore_repeat'
        )),
    target TEXT NOT NULL CONSTRAINT challenges_target_check CHECK (length(target) BETWEEN 1 AND 1024),
    hash BLOB NOT NULL CONSTRAINT challenges_hash_check CHECK (length(hash) = 32),
    issued_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL CONSTRAINT challenges_attempts_check CHECK (attempts BETWEEN 0 AND 32767),
    ended_at INTEGER,
    address TEXT,
    CONSTRAINT challenges_address_check CHECK (
        (address IS NOT NULL) = (purpose IN ('email_change', 'email_restore'))
        AND length(address) BETWEEN 1 AND 1024
    )
) STRICT;
INSERT INTO challenges_with_address (id, user_id, purpose, target, hash, issued_at, attempts, ended_at)
    SELECT id, user_id, purpose, target, hash, issued_at, attempts, ended_at FROM challenges;
DROP TABLE challenges;
ALTER TABLE challenges_with_address RENAME TO challenges;
CREATE INDEX challenges_of_user ON challenges (user_id, purpose, id DESC);
CREATE INDEX challenges_to_target ON challenges (target, purpose, issued_at);
-- Only the newest of a purpose can be answered.
CREATE UNIQUE INDEX challenges_one_open ON challenges (user_id, purpose) WHERE ended_at IS NULL;
CREATE INDEX challenges_for_passwords ON challenges (hash) WHERE purpose = 'password';
CREATE INDEX challenges_for_restorations ON challenges (hash) WHERE purpose = 'email_restore';
CREATE INDEX challenges_by_age ON challenges (issued_at);
