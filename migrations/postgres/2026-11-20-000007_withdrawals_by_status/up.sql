-- What operators work through: all withdrawals of one status, the newest first.
CREATE INDEX withdrawals_by_status ON withdrawals (status, created_at DESC, id DESC);
