DROP INDEX CONCURRENTLY IF EXISTS ledger_entries_income;
CREATE INDEX CONCURRENTLY ledger_entries_income ON ledger_entries (wallet_id, at) WHERE kind IN ('topup', 'earning');
