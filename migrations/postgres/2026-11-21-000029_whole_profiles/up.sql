-- The receipts that still show a profile, the oldest first: retention finds those that are due, and a redacted one
-- leaves the index.
DROP INDEX CONCURRENTLY IF EXISTS operations_whole_profiles;
CREATE INDEX CONCURRENTLY operations_whole_profiles ON operations (at, id) WHERE (receipt -> 'profile') ? 'balance';
