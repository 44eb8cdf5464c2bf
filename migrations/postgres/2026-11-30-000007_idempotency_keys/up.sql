-- An operation is added after the rows that refer to it, with its position.
ALTER TABLE idempotency_keys ALTER CONSTRAINT idempotency_keys_operation_id_fkey DEFERRABLE INITIALLY DEFERRED;
