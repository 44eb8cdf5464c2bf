-- Reads the table without keeping anybody from writing to it.
ALTER TABLE ledger_entries
    VALIDATE CONSTRAINT ledger_entries_kind_check,
    VALIDATE CONSTRAINT ledger_entries_reference_kind_check;
