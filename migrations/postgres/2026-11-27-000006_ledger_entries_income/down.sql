DROP INDEX CONCURRENTLY ledger_entries_income;
