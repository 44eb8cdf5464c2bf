-- The requests of a gig. Requests without a gig cost nothing.
DROP INDEX CONCURRENTLY IF EXISTS music_requests_by_gig;
CREATE INDEX CONCURRENTLY music_requests_by_gig
    ON music_requests (gig_id, expires_at) WHERE gig_id IS NOT NULL;
