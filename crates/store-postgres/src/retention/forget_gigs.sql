-- Removes the texts and the place of a batch of a user's gigs.
-- $1: the user.
-- $2: the maximum number of rows.
-- Index: gigs_of_dj.
UPDATE gigs SET title = 'Erased', venue = NULL, city = NULL, latitude = NULL, longitude = NULL, message = NULL
WHERE id IN (
    SELECT id FROM gigs
    WHERE dj_id = $1::bigint
        AND (title <> 'Erased' OR venue IS NOT NULL OR city IS NOT NULL OR latitude IS NOT NULL OR message IS NOT NULL)
    LIMIT $2::bigint
)
