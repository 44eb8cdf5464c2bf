DROP INDEX CONCURRENTLY IF EXISTS operations_position_key;
CREATE UNIQUE INDEX CONCURRENTLY operations_position_key ON operations (position) WHERE position > 0;
