-- A request is accepted, if it still can be, and the operation is recorded as ours is: its receipt shows the request.
-- Operations have ordered ids, as ours have, and positions without a lock, which may have gaps.
\set request :first_request + :request_step * random(0, :requests - 1)
WITH moved AS (
    UPDATE music_requests SET status = 'accepted', expires_at = now() + interval '1 hour', changed_at = now()
    WHERE id = :request AND status IN ('pending', 'accepted')
    RETURNING dj_id
)
INSERT INTO operations (id, kind, actor_user_id, at, position, receipt)
SELECT lpad(to_hex(nextval('adjustment_ids')), 32, '0')::uuid, 'move_request', dj_id, now(),
    1000000000 + currval('adjustment_ids'),
    '{"request": {"id": 123456, "requester_id": 1234, "dj_id": 123, "song_title": "A song of some length",
      "artist_name": "An artist", "artist_type": "popular", "music_url": "https://music.example.com/songs/123456",
      "fee": "12.50", "status": "accepted", "expires_at": "1790000000000000", "changed_at": "1790000000000000",
      "commission": null, "created_at": "1790000000000000"}}'
FROM moved;
