-- Money in suspense, as operators list it.
DROP INDEX CONCURRENTLY IF EXISTS topups_in_suspense;
CREATE INDEX CONCURRENTLY topups_in_suspense
    ON topups ((settled_operation IS NOT NULL), suspense_at DESC, id DESC) WHERE suspense_operation IS NOT NULL;
