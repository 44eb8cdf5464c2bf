-- `address` is the new e-mail address, as the user wrote it. A `wallet_link` moves a guest account to another browser.
ALTER TABLE challenges
    ADD COLUMN address text,
    DROP CONSTRAINT challenges_purpose_check,
    ADD CONSTRAINT challenges_purpose_check
        CHECK (purpose IN (
            'email', 'phone', 'password', 'email_change', 'email_restore', 'email_restore_repeat', 'wallet_link'
        )) NOT VALID,
    ADD CONSTRAINT challenges_address_check CHECK (
        (address IS NOT NULL) = (purpose IN ('email_change', 'email_restore'))
        AND char_length(address) BETWEEN 1 AND 1024
    ) NOT VALID;
