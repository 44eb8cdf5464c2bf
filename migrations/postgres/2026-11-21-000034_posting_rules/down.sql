ALTER TABLE operations DROP COLUMN posting_rules;
