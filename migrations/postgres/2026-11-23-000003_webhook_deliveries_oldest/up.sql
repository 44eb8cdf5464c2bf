DROP INDEX CONCURRENTLY IF EXISTS webhook_deliveries_oldest;
