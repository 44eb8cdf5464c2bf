-- Returns the pages of lists of music requests with one form of filter, each row with the index and the
-- length of its list; a list with an empty page has one row of NULLs.
--
-- Both conditions before the comment `filter` are replaced by that of the form: by requester, by DJ, by
-- status. The text differs by form instead of testing parameters, so that each form has a plan of its own.
-- $1: the requesters.
-- $2: the DJs.
-- $3: the times for which the lists are read.
-- $4: the maximum number of rows of each page.
-- $5: the number of rows before each page.
-- Index: music_requests_of_requester, music_requests_of_dj, music_requests_of_dj_by_status.
SELECT asked.number, counted.total, page.*
FROM unnest($1::bigint[], $2::bigint[], $3::timestamptz[], $4::bigint[], $5::bigint[])
    WITH ORDINALITY AS asked (requester, dj, now, size, before, number)
CROSS JOIN LATERAL (
    SELECT count(*)
    FROM music_requests
    WHERE requester_id = asked.requester /* filter */
) AS counted (total)
LEFT JOIN LATERAL (
    SELECT id, requester_id, dj_id, song_title, artist_name, artist_type, music_url, fee, status, expires_at, changed_at,
        commission, created_at, gig_id, counts_as_guest, displaced
    FROM music_requests
    WHERE requester_id = asked.requester /* filter */
    ORDER BY created_at DESC, id DESC
    LIMIT asked.size OFFSET asked.before
) AS page ON true
