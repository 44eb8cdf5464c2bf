ALTER TABLE topups
    DROP CONSTRAINT topups_payment_url_check,
    ADD CONSTRAINT topups_payment_url_check CHECK (char_length(payment_url) BETWEEN 1 AND 255),
    DROP CONSTRAINT topups_ordered_with_attempts,
    DROP CONSTRAINT topups_attempts_check,
    DROP COLUMN order_at,
    DROP COLUMN attempts;
