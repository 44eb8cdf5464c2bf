ALTER TABLE withdrawals
    DROP COLUMN second_approved_at,
    DROP COLUMN second_approved_by,
    DROP COLUMN approved_at,
    DROP COLUMN approved_by;
