DROP INDEX operations_that_adjust;
DROP INDEX ledger_entries_by_time;
DROP INDEX ledger_entries_of_reference;
