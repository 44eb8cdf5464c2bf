ALTER TABLE withdrawals DROP COLUMN reference;
