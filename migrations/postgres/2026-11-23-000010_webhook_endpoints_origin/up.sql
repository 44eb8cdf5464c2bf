-- The session that set the URL of an endpoint, and the idempotency key of its creation: the hash of its scope and a
-- keyed hash of the body without the password.
ALTER TABLE webhook_endpoints
    ADD COLUMN url_session_id bigint,
    ADD COLUMN creation_key bytea,
    ADD COLUMN creation_body bytea,
    ADD CONSTRAINT webhook_endpoints_creation_key_check CHECK (octet_length(creation_key) = 32) NOT VALID,
    ADD CONSTRAINT webhook_endpoints_creation_body_check CHECK (octet_length(creation_body) = 32) NOT VALID,
    ADD CONSTRAINT webhook_endpoints_creation_has_both
        CHECK (num_nulls(creation_key, creation_body) IN (0, 2)) NOT VALID;
