-- The codes that were sent to phones within a day, to count them. Number and network are hashes under a key of the servers, so
-- that neither can be read here; no row names a person, so that an erasure resets no count.
CREATE TABLE phone_codes (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    number bytea NOT NULL CHECK (octet_length(number) = 32),
    network bytea NOT NULL CHECK (octet_length(network) = 32),
    sent_at timestamptz NOT NULL
);
CREATE INDEX phone_codes_to_number ON phone_codes (number, sent_at);
CREATE INDEX phone_codes_from_network ON phone_codes (network, sent_at);
CREATE INDEX phone_codes_by_age ON phone_codes (sent_at);
