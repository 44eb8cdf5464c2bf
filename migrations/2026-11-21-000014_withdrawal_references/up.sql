-- What the payout provider knows a withdrawal by: the UUID of the operation that opened it, set with the row and never
-- changed. Without one it is the decimal id, as servers of earlier versions open it.
ALTER TABLE withdrawals ADD COLUMN reference uuid;
