DROP INDEX ledger_entries_income;
