DELETE FROM challenges WHERE purpose NOT IN ('email', 'phone', 'password');
ALTER TABLE challenges
    DROP CONSTRAINT challenges_address_check,
    DROP CONSTRAINT challenges_purpose_check,
    ADD CONSTRAINT challenges_purpose_check CHECK (purpose IN ('email', 'phone', 'password')),
    DROP COLUMN address;
