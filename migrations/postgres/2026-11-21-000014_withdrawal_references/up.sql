-- The reference of a withdrawal at the payout provider: the UUID of the operation that opened it, never
-- changed. It is null for withdrawals that earlier versions open; their decimal id is the reference.
ALTER TABLE withdrawals ADD COLUMN reference uuid;
