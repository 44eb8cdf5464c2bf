-- Who blocks a guest, newest first, as an export lists them.
DROP INDEX CONCURRENTLY IF EXISTS blocks_of_guest_newest;
CREATE INDEX CONCURRENTLY blocks_of_guest_newest ON blocks (guest_id, at DESC, dj_id DESC);
