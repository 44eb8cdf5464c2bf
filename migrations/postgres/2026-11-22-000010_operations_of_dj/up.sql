DROP INDEX CONCURRENTLY IF EXISTS operations_of_dj;
CREATE INDEX CONCURRENTLY operations_of_dj ON operations (dj_id, position) WHERE dj_id IS NOT NULL;
