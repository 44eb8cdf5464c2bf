DROP INDEX CONCURRENTLY IF EXISTS operations_without_position;
CREATE INDEX CONCURRENTLY operations_without_position ON operations (at, id) WHERE position = 0;
