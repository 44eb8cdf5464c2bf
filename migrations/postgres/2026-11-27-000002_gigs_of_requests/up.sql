-- The gig of a request.
ALTER TABLE music_requests
    ADD COLUMN gig_id bigint,
    ADD CONSTRAINT music_requests_gig_id_fkey FOREIGN KEY (gig_id) REFERENCES gigs NOT VALID;

-- The dedications of requests. They are not columns of a request, because its receipts are permanent.
CREATE TABLE request_messages (
    request_id bigint PRIMARY KEY REFERENCES music_requests,
    message text NOT NULL CONSTRAINT request_messages_message_check CHECK (char_length(message) BETWEEN 1 AND 140),
    created_at timestamptz NOT NULL
);
CREATE INDEX request_messages_by_age ON request_messages (created_at);
