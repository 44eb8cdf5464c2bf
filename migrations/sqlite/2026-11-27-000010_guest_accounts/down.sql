-- Fails where there are guest accounts, because the role of their row would be invalid.
CREATE TABLE reverted (users INTEGER NOT NULL CONSTRAINT guest_accounts_are_kept CHECK (users = 0)) STRICT;
INSERT INTO reverted SELECT count(*) FROM users WHERE role = 'guest';
DROP TABLE reverted;
DROP TRIGGER users_are_kept_unless_unused_guests;
DROP INDEX provider_messages_resolved_by;
DROP INDEX security_events_of_actor;
DROP INDEX users_guests;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'actor_user_id INTEGER', 'actor_user_id INTEGER REFERENCES users (id)')
WHERE type = 'table' AND name = 'operations';
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'role = ''member'' OR role = ''operator'' OR role = ''auditor'' OR role = ''guest''',
    'role = ''member'' OR role = ''operator'' OR role = ''auditor'''),
    'CONSTRAINT users_guests_have_no_login CHECK (
        role <> ''guest'' OR erased_at IS NOT NULL
        OR password_hash = ''!'' AND email_folded = ''guest-'' || id AND NOT email_verified AND NOT phone_verified
            AND coalesce(phone, city, state, country, latitude, longitude, radius) IS NULL AND NOT is_dj
    ),
    CONSTRAINT users_suspension_is_noted',
    'CONSTRAINT users_suspension_is_noted')
WHERE type = 'table' AND name = 'users';
-- Increments the schema cookie, so that other connections read the schema again.
CREATE VIEW changed_schema AS SELECT 1;
DROP VIEW changed_schema;
PRAGMA writable_schema = RESET;
