DROP INDEX CONCURRENTLY topups_in_suspense;
