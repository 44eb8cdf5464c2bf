-- The code of the DJ on whose page the payment began. Other top-ups have none.
ALTER TABLE topups
    ADD COLUMN page_code text,
    ADD CONSTRAINT topups_page_code_check CHECK (page_code ~ '^[2-9BCDFGHJKMNPQRSTVWXYZ]{6}$') NOT VALID;
