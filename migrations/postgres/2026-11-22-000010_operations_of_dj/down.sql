DROP INDEX CONCURRENTLY operations_of_dj;
