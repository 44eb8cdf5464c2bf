-- Returns active webhook endpoints that no server has leased and that may have something to deliver, those
-- without a turn for the longest time first. Operations have their positions before they are visible, so that
-- one after the cursor is found by the first search after its commit.
-- Endpoints whose owner may not receive their feed are left out, as WebhookEndpoint::may_deliver decides; a test
-- compares both.
-- $1: the time.
-- $2: the maximum number of endpoints.
-- $3: the time from which the end of a lease was set by a clock that was ahead.
-- Index: users_pkey, webhook_endpoints_by_turn, webhook_deliveries_due, operations_position_key, operations_of_owner,
-- operations_of_dj.
SELECT endpoint.id
FROM webhook_endpoints AS endpoint
WHERE endpoint.state = 'active'
    AND EXISTS (
        SELECT FROM users AS owner
        WHERE owner.id = endpoint.owner_id AND owner.erased_at IS NULL AND owner.suspended_at IS NULL
            AND (endpoint.feed = 'own' OR owner.role = 'operator')
    )
    AND (
        endpoint.leased_until IS NULL
        OR endpoint.leased_until <= $1::timestamptz
        OR endpoint.leased_until >= $3::timestamptz
    )
    AND (
        endpoint.replay_until IS NOT NULL
        OR EXISTS (
            SELECT FROM webhook_deliveries AS delivery
            WHERE delivery.endpoint_id = endpoint.id AND delivery.next_at <= $1::timestamptz
        )
        OR endpoint.feed = 'all'
            AND endpoint.cursor < (SELECT max(position) FROM operations WHERE position > 0)
        OR endpoint.feed = 'own' AND (
            EXISTS (
                SELECT FROM operations AS operation
                WHERE operation.owner_id = endpoint.owner_id AND operation.position > endpoint.cursor
            )
            OR EXISTS (
                SELECT FROM operations AS operation
                WHERE operation.dj_id = endpoint.owner_id AND operation.position > endpoint.cursor
            )
        )
    )
ORDER BY endpoint.leased_until NULLS FIRST, endpoint.id
LIMIT $2::bigint
