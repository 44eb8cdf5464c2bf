ALTER TABLE postings ALTER CONSTRAINT postings_operation_id_fkey NOT DEFERRABLE;
