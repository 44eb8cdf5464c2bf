-- The session that set the URL of an endpoint, and the idempotency key of its creation: the hash of its scope and a
-- keyed hash of the body without the password.
ALTER TABLE webhook_endpoints ADD COLUMN url_session_id INTEGER;
ALTER TABLE webhook_endpoints ADD COLUMN creation_key BLOB
    CONSTRAINT webhook_endpoints_creation_key_check CHECK (length(creation_key) = 32);
ALTER TABLE webhook_endpoints ADD COLUMN creation_body BLOB
    CONSTRAINT webhook_endpoints_creation_body_check CHECK (length(creation_body) = 32)
    CONSTRAINT webhook_endpoints_creation_has_both CHECK ((creation_key IS NULL) = (creation_body IS NULL));
CREATE UNIQUE INDEX webhook_endpoints_creation_key_key ON webhook_endpoints (creation_key)
    WHERE creation_key IS NOT NULL;
