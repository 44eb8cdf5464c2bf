-- Deletes a batch of the dedications of a user's requests.
-- $1: the user.
-- $2: the maximum number of rows.
-- Index: music_requests_of_requester, the primary key.
DELETE FROM request_messages
WHERE request_id IN (
    SELECT request_id FROM request_messages JOIN music_requests ON id = request_id
    WHERE requester_id = $1::bigint
    LIMIT $2::bigint
)
