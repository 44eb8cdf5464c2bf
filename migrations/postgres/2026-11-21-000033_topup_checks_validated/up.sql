ALTER TABLE topups
    VALIDATE CONSTRAINT topups_attempts_check,
    VALIDATE CONSTRAINT topups_ordered_with_attempts,
    VALIDATE CONSTRAINT topups_payment_url_check;
