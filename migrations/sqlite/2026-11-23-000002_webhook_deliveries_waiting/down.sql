CREATE INDEX webhook_deliveries_oldest ON webhook_deliveries (failed_at, endpoint_id) WHERE next_at IS NOT NULL;
DROP INDEX webhook_deliveries_waiting;
