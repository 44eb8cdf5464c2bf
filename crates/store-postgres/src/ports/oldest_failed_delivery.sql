-- Returns the time of the first attempt of the oldest delivery that is to be repeated, of all active endpoints:
-- the first one in the index for each endpoint, however many wait for those that are not active.
-- Index: webhook_endpoints_by_turn, webhook_deliveries_waiting.
SELECT min((
    SELECT min(delivery.failed_at)
    FROM webhook_deliveries AS delivery
    WHERE delivery.endpoint_id = endpoint.id AND delivery.next_at IS NOT NULL
))
FROM webhook_endpoints AS endpoint
WHERE endpoint.state = 'active'
