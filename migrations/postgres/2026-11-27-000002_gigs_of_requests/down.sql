DROP TABLE request_messages;
ALTER TABLE music_requests DROP COLUMN gig_id;
