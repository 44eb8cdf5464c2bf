CREATE INDEX ledger_entries_income ON ledger_entries (wallet_id, at) WHERE kind IN ('topup', 'earning');
