-- Deletes a batch of a user's webhook endpoints, with their attempts.
-- $1: the user.
-- $2: the maximum number of rows.
-- Index: webhook_endpoints_of_owner.
DELETE FROM webhook_endpoints
WHERE id IN (
    SELECT id FROM webhook_endpoints
    WHERE owner_id = $1::bigint
    ORDER BY id
    LIMIT $2::bigint
    FOR UPDATE
)
