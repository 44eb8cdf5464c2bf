DROP INDEX CONCURRENTLY IF EXISTS sessions_cookie_hash_key;
