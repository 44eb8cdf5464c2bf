DROP TABLE tips;
DROP SEQUENCE tip_ids;
-- Without its row, a token would be an ordinary session.
DELETE FROM sessions WHERE id IN (SELECT session_id FROM personal_tokens);
DROP TABLE personal_tokens;
DROP TABLE request_messages;
DROP TABLE gigs;
DROP FUNCTION refuse_removal_of_gig();
DROP SEQUENCE gig_ids;
DROP TABLE gig_codes;
DROP TABLE ratings;
DROP TABLE position_gaps;
DROP TABLE webhook_attempts;
DROP TABLE webhook_deliveries;
DROP TABLE webhook_endpoints;
