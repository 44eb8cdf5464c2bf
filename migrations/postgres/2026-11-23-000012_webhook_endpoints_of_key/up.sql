DROP INDEX CONCURRENTLY IF EXISTS webhook_endpoints_creation_key_key;
CREATE UNIQUE INDEX CONCURRENTLY webhook_endpoints_creation_key_key ON webhook_endpoints (creation_key)
    WHERE creation_key IS NOT NULL;
