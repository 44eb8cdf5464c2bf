DROP INDEX CONCURRENTLY IF EXISTS withdrawals_reference_key;
CREATE UNIQUE INDEX CONCURRENTLY withdrawals_reference_key ON withdrawals (reference) WHERE reference IS NOT NULL;
