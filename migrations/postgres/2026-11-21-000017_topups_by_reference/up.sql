DROP INDEX CONCURRENTLY IF EXISTS topups_reference_key;
CREATE UNIQUE INDEX CONCURRENTLY topups_reference_key ON topups (reference) WHERE reference IS NOT NULL;
