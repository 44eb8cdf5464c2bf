-- A request is accepted, if it still can be; nothing is written beside it.
\set request :first_request + :request_step * random(0, :requests - 1)
UPDATE music_requests SET status = 'accepted', expires_at = now() + interval '1 hour', changed_at = now()
WHERE id = :request AND status IN ('pending', 'accepted');
