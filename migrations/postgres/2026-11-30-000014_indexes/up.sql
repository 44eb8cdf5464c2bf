DROP INDEX CONCURRENTLY IF EXISTS operations_position_key;
CREATE UNIQUE INDEX CONCURRENTLY operations_position_key ON operations (position) WHERE position > 0;
DROP INDEX CONCURRENTLY IF EXISTS operations_without_position;
CREATE INDEX CONCURRENTLY operations_without_position ON operations (at, id) WHERE position = 0;
DROP INDEX CONCURRENTLY IF EXISTS operations_of_owner;
CREATE INDEX CONCURRENTLY operations_of_owner ON operations (owner_id, position) WHERE owner_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS operations_of_dj;
CREATE INDEX CONCURRENTLY operations_of_dj ON operations (dj_id, position) WHERE dj_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS challenges_for_restorations;
CREATE INDEX CONCURRENTLY challenges_for_restorations ON challenges (hash) WHERE purpose = 'email_restore';
DROP INDEX CONCURRENTLY IF EXISTS challenges_for_wallet_links;
CREATE INDEX CONCURRENTLY challenges_for_wallet_links ON challenges (hash) WHERE purpose = 'wallet_link';
DROP INDEX CONCURRENTLY IF EXISTS ledger_entries_income;
CREATE INDEX CONCURRENTLY ledger_entries_income ON ledger_entries (wallet_id, at) WHERE kind IN ('topup', 'earning');
-- The guest accounts that may be unused.
DROP INDEX CONCURRENTLY IF EXISTS users_guests;
CREATE INDEX CONCURRENTLY users_guests ON users (id) WHERE role = 'guest' AND erased_at IS NULL;
DROP INDEX CONCURRENTLY IF EXISTS security_events_of_actor;
CREATE INDEX CONCURRENTLY security_events_of_actor ON security_events (actor_id) WHERE actor_id IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS provider_messages_resolved_by;
CREATE INDEX CONCURRENTLY provider_messages_resolved_by ON provider_messages (resolved_by)
    WHERE resolved_by IS NOT NULL;
-- Each cookie belongs to one session. Sessions without a cookie cost nothing.
DROP INDEX CONCURRENTLY IF EXISTS sessions_cookie_hash_key;
CREATE UNIQUE INDEX CONCURRENTLY sessions_cookie_hash_key
    ON sessions (cookie_hash) WHERE cookie_hash IS NOT NULL;
-- The requests of a gig, which are counted from this index alone. Requests without a gig cost nothing.
DROP INDEX CONCURRENTLY IF EXISTS music_requests_of_gig;
CREATE INDEX CONCURRENTLY music_requests_of_gig
    ON music_requests (gig_id, expires_at, counts_as_guest, status) WHERE gig_id IS NOT NULL;
