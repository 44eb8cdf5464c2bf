-- Without its row, a token would be an ordinary session.
DELETE FROM sessions WHERE id IN (SELECT session_id FROM personal_tokens);
DROP TABLE personal_tokens;
