DROP TABLE refresh_tokens;
DROP TABLE refresh_token_families;
