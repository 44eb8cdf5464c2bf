DROP INDEX withdrawals_to_send;
ALTER TABLE withdrawals
    DROP CONSTRAINT withdrawals_sent_while_processing,
    DROP COLUMN attempts,
    DROP COLUMN retry_at;
