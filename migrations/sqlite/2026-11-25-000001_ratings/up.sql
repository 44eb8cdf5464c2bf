-- The ratings of played requests by their guests. Their sum and number are columns of `users`.
CREATE TABLE ratings (
    request_id INTEGER PRIMARY KEY REFERENCES music_requests (id),
    stars INTEGER NOT NULL CONSTRAINT ratings_stars_check CHECK (stars BETWEEN 1 AND 5),
    rated_at INTEGER NOT NULL
) STRICT;
