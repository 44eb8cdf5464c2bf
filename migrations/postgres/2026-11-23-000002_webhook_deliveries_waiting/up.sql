DROP INDEX CONCURRENTLY IF EXISTS webhook_deliveries_waiting;
CREATE INDEX CONCURRENTLY webhook_deliveries_waiting ON webhook_deliveries (endpoint_id, failed_at) WHERE next_at IS NOT NULL;
