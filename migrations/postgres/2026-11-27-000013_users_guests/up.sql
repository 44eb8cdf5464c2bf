-- The guest accounts that may be unused.
DROP INDEX CONCURRENTLY IF EXISTS users_guests;
CREATE INDEX CONCURRENTLY users_guests ON users (id) WHERE role = 'guest' AND erased_at IS NULL;
