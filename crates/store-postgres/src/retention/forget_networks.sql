-- Deletes a batch of the networks of a user's logins.
-- $1: the user.
-- $2: the maximum number of rows.
-- Index: login_networks_once.
DELETE FROM login_networks
WHERE id IN (
    SELECT id FROM login_networks
    WHERE user_id = $1::bigint
    ORDER BY id
    LIMIT $2::bigint
    FOR UPDATE
)
