-- The rules by which the money of an operation was posted; null where the first version did, which had one set of rules.
ALTER TABLE operations
    ADD COLUMN posting_rules smallint,
    ADD CONSTRAINT operations_posting_rules_check CHECK (posting_rules > 0) NOT VALID;
