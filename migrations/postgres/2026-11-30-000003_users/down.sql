DROP TRIGGER users_are_kept ON users;
DROP TRIGGER users_are_kept_unless_unused_guests ON users;
DROP FUNCTION refuse_removal_of_used_user();
DROP FUNCTION refuse_removal();
ALTER TABLE users
    DROP CONSTRAINT users_guests_have_no_login,
    DROP CONSTRAINT users_role_check,
    ADD CONSTRAINT users_role_check CHECK (role IN ('member', 'operator', 'auditor')),
    DROP COLUMN login_changed_at;
