DROP INDEX CONCURRENTLY IF EXISTS security_events_of_actor;
CREATE INDEX CONCURRENTLY security_events_of_actor ON security_events (actor_id) WHERE actor_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS provider_messages_resolved_by;
CREATE INDEX CONCURRENTLY provider_messages_resolved_by ON provider_messages (resolved_by)
    WHERE resolved_by IS NOT NULL;
