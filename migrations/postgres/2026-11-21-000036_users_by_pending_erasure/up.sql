DROP INDEX CONCURRENTLY IF EXISTS users_by_pending_erasure;
CREATE INDEX CONCURRENTLY users_by_pending_erasure ON users (id) WHERE erasure_pending;
