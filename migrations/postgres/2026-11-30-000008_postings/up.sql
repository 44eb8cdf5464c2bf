-- An operation is added after the rows that refer to it, with its position.
ALTER TABLE postings ALTER CONSTRAINT postings_operation_id_fkey DEFERRABLE INITIALLY DEFERRED;
