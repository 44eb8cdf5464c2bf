DROP INDEX CONCURRENTLY IF EXISTS webhook_deliveries_oldest;
CREATE INDEX CONCURRENTLY webhook_deliveries_oldest ON webhook_deliveries (failed_at, endpoint_id)
    WHERE next_at IS NOT NULL;
