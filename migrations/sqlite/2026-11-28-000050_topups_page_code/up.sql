-- The code of the DJ on whose page the payment began. Other top-ups have none.
ALTER TABLE topups ADD COLUMN page_code TEXT
    CONSTRAINT topups_page_code_check CHECK (
        length(page_code) = 6 AND page_code NOT GLOB '*[^23456789BCDFGHJKMNPQRSTVWXYZ]*'
    );
