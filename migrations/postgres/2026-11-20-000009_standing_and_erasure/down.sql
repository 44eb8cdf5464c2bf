DROP INDEX operations_that_show_profiles;
DROP INDEX users_newest;
DROP INDEX users_by_standing;
UPDATE users SET role = 'member' WHERE role = 'auditor';
ALTER TABLE users
    DROP CONSTRAINT users_erased_are_nobody,
    DROP CONSTRAINT users_suspension_is_noted,
    DROP CONSTRAINT users_role_check,
    ADD CONSTRAINT users_role_check CHECK (role IN ('member', 'operator')),
    DROP COLUMN erased_at,
    DROP COLUMN standing_at,
    DROP COLUMN suspended_at;
