-- The oldest delivery that waits for an endpoint.
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (endpoint_id, failed_at) WHERE next_at IS NOT NULL;
DROP INDEX webhook_deliveries_oldest;
