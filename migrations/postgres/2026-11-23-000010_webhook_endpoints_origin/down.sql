ALTER TABLE webhook_endpoints
    DROP CONSTRAINT webhook_endpoints_creation_has_both,
    DROP COLUMN creation_body,
    DROP COLUMN creation_key,
    DROP COLUMN url_session_id;
