-- The length of a DJ's list and its first page, in one statement.
\set dj :first_dj + :dj_step * random(0, :djs - 1)
SELECT (SELECT count(*) FROM music_requests WHERE dj_id = :dj), id, requester_id, dj_id, song_title, artist_name,
    artist_type, music_url, fee, status, expires_at, changed_at, created_at
FROM music_requests WHERE dj_id = :dj ORDER BY created_at DESC, id DESC LIMIT 15;
