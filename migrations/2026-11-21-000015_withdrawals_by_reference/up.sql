-- One statement alone: an index is made concurrently only outside of any transaction, and PostgreSQL runs several
-- statements of one message in one.
CREATE UNIQUE INDEX CONCURRENTLY withdrawals_reference_key ON withdrawals (reference) WHERE reference IS NOT NULL;
