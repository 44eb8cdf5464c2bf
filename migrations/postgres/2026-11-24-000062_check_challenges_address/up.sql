ALTER TABLE challenges
    VALIDATE CONSTRAINT challenges_purpose_check,
    VALIDATE CONSTRAINT challenges_address_check;
