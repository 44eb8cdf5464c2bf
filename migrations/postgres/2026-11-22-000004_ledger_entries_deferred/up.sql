-- An operation is added after the rows that refer to it, with its position.
ALTER TABLE ledger_entries ALTER CONSTRAINT ledger_entries_operation_id_fkey DEFERRABLE INITIALLY DEFERRED;
