-- Guest accounts: users without a login. Only the texts of the checks change, because the stored rows stay valid. A user
-- can be deleted now, so that the actor of an operation has no foreign key: SQLite would read all operations for each
-- deleted user. With a trigger instead, it would read all idempotency keys for each operation.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'role = ''member'' OR role = ''operator'' OR role = ''auditor''',
    'role = ''member'' OR role = ''operator'' OR role = ''auditor'' OR role = ''guest'''),
    'CONSTRAINT users_suspension_is_noted',
    'CONSTRAINT users_guests_have_no_login CHECK (
        role <> ''guest'' OR erased_at IS NOT NULL
        OR password_hash = ''!'' AND email_folded = ''guest-'' || id AND NOT email_verified AND NOT phone_verified
            AND coalesce(phone, city, state, country, latitude, longitude, radius) IS NULL AND NOT is_dj
    ),
    CONSTRAINT users_suspension_is_noted')
WHERE type = 'table' AND name = 'users';
UPDATE sqlite_schema SET sql = replace(sql, 'actor_user_id INTEGER REFERENCES users (id)', 'actor_user_id INTEGER')
WHERE type = 'table' AND name = 'operations';
-- Increments the schema cookie, so that other connections read the schema again.
CREATE VIEW changed_schema AS SELECT 1;
DROP VIEW changed_schema;
PRAGMA writable_schema = RESET;

-- The guest accounts that may be unused.
CREATE INDEX users_guests ON users (id) WHERE role = 'guest' AND erased_at IS NULL;
CREATE INDEX security_events_of_actor ON security_events (actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX provider_messages_resolved_by ON provider_messages (resolved_by) WHERE resolved_by IS NOT NULL;

CREATE TRIGGER users_are_kept_unless_unused_guests BEFORE DELETE ON users
WHEN OLD.role <> 'guest' OR OLD.erased_at IS NOT NULL
    OR EXISTS (SELECT 1 FROM operations WHERE owner_id = OLD.id) BEGIN
    SELECT RAISE(ABORT, 'users_are_kept: only unused guest accounts are deleted');
END;
