-- Deletes a batch of the networks from which a person logged in.
-- $1: the person.
-- $2: the most rows.
-- Index: login_networks_once.
DELETE FROM login_networks
WHERE id IN (
    SELECT id FROM login_networks
    WHERE user_id = $1::bigint
    ORDER BY id
    LIMIT $2::bigint
    FOR UPDATE
)
