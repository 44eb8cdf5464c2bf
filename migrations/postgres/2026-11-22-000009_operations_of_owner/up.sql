DROP INDEX CONCURRENTLY IF EXISTS operations_of_owner;
CREATE INDEX CONCURRENTLY operations_of_owner ON operations (owner_id, position) WHERE owner_id IS NOT NULL;
