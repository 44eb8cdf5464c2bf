-- Deletes a batch of the failed deliveries to a user's webhook endpoints. The endpoints are locked first, as in
-- a turn.
-- $1: the user.
-- $2: the maximum number of rows.
-- Index: webhook_endpoints_of_owner, webhook_deliveries_pkey.
DELETE FROM webhook_deliveries
WHERE (endpoint_id, position) IN (
    SELECT delivery.endpoint_id, delivery.position
    FROM webhook_endpoints AS endpoint
    JOIN webhook_deliveries AS delivery ON delivery.endpoint_id = endpoint.id
    WHERE endpoint.owner_id = $1::bigint
    LIMIT $2::bigint
    FOR UPDATE
)
