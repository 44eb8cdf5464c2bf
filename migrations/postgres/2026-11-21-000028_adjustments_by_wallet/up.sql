DROP INDEX CONCURRENTLY IF EXISTS ledger_entries_adjustments;
CREATE INDEX CONCURRENTLY ledger_entries_adjustments ON ledger_entries (wallet_id, at) WHERE kind = 'adjustment';
