-- Guest accounts: users without a login.
ALTER TABLE users
    DROP CONSTRAINT users_role_check,
    ADD CONSTRAINT users_role_check CHECK (role IN ('member', 'operator', 'auditor', 'guest')) NOT VALID,
    ADD CONSTRAINT users_guests_have_no_login CHECK (
        role <> 'guest' OR erased_at IS NOT NULL
        OR password_hash = '!' AND email_folded = 'guest-' || id AND NOT email_verified AND NOT phone_verified
            AND num_nonnulls(phone, city, state, country, latitude, longitude, radius) = 0 AND NOT is_dj
    ) NOT VALID;
