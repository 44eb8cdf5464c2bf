-- How often a withdrawal was given to the payout provider, and when it is given to it again.
ALTER TABLE withdrawals
    ADD COLUMN attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    ADD COLUMN retry_at timestamptz,
    ADD CONSTRAINT withdrawals_sent_while_processing
        CHECK (status = 'processing' OR (attempts = 0 AND retry_at IS NULL));
CREATE INDEX withdrawals_to_send ON withdrawals (retry_at NULLS FIRST, id)
    WHERE status = 'approved' OR retry_at IS NOT NULL;
