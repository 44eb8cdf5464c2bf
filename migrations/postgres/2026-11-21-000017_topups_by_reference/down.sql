DROP INDEX CONCURRENTLY topups_reference_key;
