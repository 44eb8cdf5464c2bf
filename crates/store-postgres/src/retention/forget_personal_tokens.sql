-- Deletes a batch of a user's personal access tokens and keeps their sessions.
-- $1: the user.
-- $2: the maximum number of rows.
-- Index: sessions_of_user, the primary key.
DELETE FROM personal_tokens
WHERE session_id IN (
    SELECT session_id FROM personal_tokens JOIN sessions ON id = session_id
    WHERE user_id = $1::bigint
    LIMIT $2::bigint
)
