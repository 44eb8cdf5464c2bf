DROP TABLE postings;
DROP TABLE ledger_entries;
DROP TABLE idempotency_keys;
DROP TABLE operations;
DROP FUNCTION refuse_change;
