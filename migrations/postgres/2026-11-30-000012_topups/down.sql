-- Pages of payments then lead to no gig.
ALTER TABLE topups DROP COLUMN page_code;
