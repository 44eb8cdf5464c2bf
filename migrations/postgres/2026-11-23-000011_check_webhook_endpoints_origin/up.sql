ALTER TABLE webhook_endpoints
    VALIDATE CONSTRAINT webhook_endpoints_creation_key_check,
    VALIDATE CONSTRAINT webhook_endpoints_creation_body_check,
    VALIDATE CONSTRAINT webhook_endpoints_creation_has_both;
