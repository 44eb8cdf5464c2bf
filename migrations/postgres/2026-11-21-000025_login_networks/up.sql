-- The networks from which a person was logged in, each with the last time that a session began or was refreshed there. Kept
-- for 30 days: failed logins from elsewhere keep nobody out who was logged in from there.
CREATE TABLE login_networks (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id bigint NOT NULL REFERENCES users,
    network text NOT NULL CHECK (char_length(network) BETWEEN 5 AND 64),
    seen_at timestamptz NOT NULL,
    CONSTRAINT login_networks_once UNIQUE (user_id, network)
);
CREATE INDEX login_networks_by_age ON login_networks (seen_at);
