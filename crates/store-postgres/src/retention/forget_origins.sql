-- Removes the client info of a batch of a user's sessions.
-- $1: the user.
-- $2: the maximum number of rows.
-- Index: sessions_of_user.
UPDATE sessions SET address = NULL, agent = NULL
WHERE id IN (
    SELECT id FROM sessions
    WHERE user_id = $1::bigint AND (address IS NOT NULL OR agent IS NOT NULL)
    ORDER BY id
    LIMIT $2::bigint
    FOR NO KEY UPDATE
)
