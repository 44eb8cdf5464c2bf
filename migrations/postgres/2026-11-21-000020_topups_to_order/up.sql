DROP INDEX CONCURRENTLY IF EXISTS topups_to_order;
CREATE INDEX CONCURRENTLY topups_to_order ON topups (order_at, id) WHERE order_at IS NOT NULL;
