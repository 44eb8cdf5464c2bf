-- Made within the transaction: before this version nothing wrote rows that a lock could keep waiting.

-- All that is written about a thing.
CREATE INDEX ledger_entries_of_reference ON ledger_entries (reference_kind, reference_id);
-- The newest entry of a wallet until a moment.
CREATE INDEX ledger_entries_by_time ON ledger_entries (wallet_id, at, seq);
-- Adjustments have no table of their own: their operations say what they are.
CREATE INDEX operations_that_adjust ON operations (id) WHERE kind = 'adjust';
