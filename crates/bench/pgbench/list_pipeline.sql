-- The length of a DJ's list and its first page, in two statements and one round trip.
\set dj :first_dj + :dj_step * random(0, :djs - 1)
\startpipeline
SELECT count(*) FROM music_requests WHERE dj_id = :dj;
SELECT id, requester_id, dj_id, song_title, artist_name, artist_type, music_url, fee, status, expires_at, changed_at,
    created_at
FROM music_requests WHERE dj_id = :dj ORDER BY created_at DESC, id DESC LIMIT 15;
\endpipeline
