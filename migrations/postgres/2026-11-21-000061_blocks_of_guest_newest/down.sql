DROP INDEX CONCURRENTLY blocks_of_guest_newest;
