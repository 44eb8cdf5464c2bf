-- How often a top-up was ordered at its provider, and when it is ordered again; payment pages have longer addresses.
ALTER TABLE topups
    ADD COLUMN attempts integer,
    ADD COLUMN order_at timestamptz,
    ADD CONSTRAINT topups_attempts_check CHECK (attempts >= 0) NOT VALID,
    ADD CONSTRAINT topups_ordered_with_attempts CHECK (order_at IS NULL OR attempts IS NOT NULL) NOT VALID,
    DROP CONSTRAINT topups_payment_url_check,
    ADD CONSTRAINT topups_payment_url_check CHECK (char_length(payment_url) BETWEEN 1 AND 2048) NOT VALID;
