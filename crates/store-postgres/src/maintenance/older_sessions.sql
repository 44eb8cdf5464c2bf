-- Returns the number of sessions of servers that do not know a feature level: they share the lock of all
-- servers, but no lock of this level or a later one.
-- $1: the lock of all servers.
-- $2: the class of the locks of feature levels.
-- $3: the feature level.
-- Index: none, since it reads no table.
SELECT count(*) AS sessions
FROM pg_locks AS server
WHERE server.locktype = 'advisory'
    AND server.objsubid = 1
    AND server.mode = 'ShareLock'
    AND (server.classid::bigint << 32) | server.objid::bigint = $1::bigint
    AND server.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND NOT EXISTS (
        SELECT FROM pg_locks AS level
        WHERE level.pid = server.pid
            AND level.locktype = 'advisory'
            AND level.objsubid = 2
            AND level.classid::bigint = $2::integer
            AND level.objid::bigint >= $3::integer
    )
