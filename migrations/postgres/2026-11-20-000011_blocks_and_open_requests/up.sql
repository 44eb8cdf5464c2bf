-- Whom DJs take no requests from.
CREATE TABLE blocks (
    dj_id bigint NOT NULL REFERENCES users,
    guest_id bigint NOT NULL REFERENCES users,
    at timestamptz NOT NULL,
    PRIMARY KEY (dj_id, guest_id)
);
CREATE INDEX blocks_of_dj ON blocks (dj_id, at DESC, guest_id DESC);
CREATE INDEX blocks_of_guest ON blocks (guest_id);

-- A guest's requests that hold a fee, to count those with one DJ.
CREATE INDEX music_requests_open ON music_requests (requester_id, dj_id) WHERE expires_at IS NOT NULL;
