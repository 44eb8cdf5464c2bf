-- The ratings of played requests by their guests. Their sum and number are columns of `users`.
CREATE TABLE ratings (
    request_id bigint PRIMARY KEY REFERENCES music_requests,
    stars smallint NOT NULL CHECK (stars BETWEEN 1 AND 5),
    rated_at timestamptz NOT NULL
);
