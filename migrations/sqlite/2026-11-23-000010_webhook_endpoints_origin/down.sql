DROP INDEX webhook_endpoints_creation_key_key;
ALTER TABLE webhook_endpoints DROP COLUMN creation_body;
ALTER TABLE webhook_endpoints DROP COLUMN creation_key;
ALTER TABLE webhook_endpoints DROP COLUMN url_session_id;
