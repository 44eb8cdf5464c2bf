-- Made within the transaction: before this version nothing was in use that a lock could keep waiting.

-- How people stand with the service, and who had their personal data erased.
ALTER TABLE users
    ADD COLUMN suspended_at timestamptz,
    ADD COLUMN standing_at timestamptz,
    ADD COLUMN erased_at timestamptz,
    DROP CONSTRAINT users_role_check,
    ADD CONSTRAINT users_role_check CHECK (role IN ('member', 'operator', 'auditor')),
    ADD CONSTRAINT users_suspension_is_noted CHECK (suspended_at IS NULL OR standing_at IS NOT NULL),
    -- No password verifies against '!'.
    ADD CONSTRAINT users_erased_are_nobody CHECK (
        erased_at IS NULL
        OR password_hash = '!' AND email_folded = 'erased-' || id AND NOT email_verified AND NOT phone_verified
            AND num_nonnulls(phone, city, state, country, latitude, longitude, radius) = 0 AND NOT online
    );
-- Whose standing changed since a moment.
CREATE INDEX users_by_standing ON users (standing_at) WHERE standing_at IS NOT NULL;
-- Everybody, the newest first.
CREATE INDEX users_newest ON users (created_at DESC, id DESC) WHERE erased_at IS NULL;
-- The answers that show a person's profile, which go with it.
CREATE INDEX operations_that_show_profiles ON operations (((receipt #>> '{profile,user,id}')::bigint))
    WHERE receipt ? 'profile';
