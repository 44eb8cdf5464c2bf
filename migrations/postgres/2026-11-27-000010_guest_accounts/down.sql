ALTER TABLE users
    DROP CONSTRAINT users_guests_have_no_login,
    DROP CONSTRAINT users_role_check,
    ADD CONSTRAINT users_role_check CHECK (role IN ('member', 'operator', 'auditor'));
