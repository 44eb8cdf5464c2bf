-- The messages about a top-up or a withdrawal: an export looks for them by the rows of its person.
DROP INDEX CONCURRENTLY IF EXISTS provider_messages_about_rows;
CREATE INDEX CONCURRENTLY provider_messages_about_rows ON provider_messages (source, row_id);
