DROP INDEX CONCURRENTLY operations_of_owner;
