-- The operators, whom a change that may dismiss the last one locks.
DROP INDEX CONCURRENTLY IF EXISTS users_operators;
CREATE INDEX CONCURRENTLY users_operators ON users (id) WHERE role = 'operator' AND erased_at IS NULL;
