ALTER TABLE topups DROP COLUMN reference;
ALTER TABLE withdrawals DROP COLUMN reference;
