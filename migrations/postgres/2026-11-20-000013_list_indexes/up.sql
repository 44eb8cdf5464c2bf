-- Made within the transaction: before this version nothing was in use that a lock could keep waiting.

-- What a DJ has in one state: counted from the index alone, and shown in its order.
CREATE INDEX music_requests_of_dj_by_status ON music_requests (dj_id, status, created_at DESC, id DESC)
    INCLUDE (expires_at);
-- Everybody's withdrawals, the newest first.
CREATE INDEX withdrawals_newest ON withdrawals (created_at DESC, id DESC);
-- DJs, all or those who are there, counted from the index alone.
DROP INDEX users_djs;
CREATE INDEX users_djs ON users (created_at DESC, id DESC) WHERE is_dj AND erased_at IS NULL;
CREATE INDEX users_djs_by_presence ON users (online, created_at DESC, id DESC) WHERE is_dj AND erased_at IS NULL;
