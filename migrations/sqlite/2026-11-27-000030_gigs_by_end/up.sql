CREATE INDEX gigs_by_end ON gigs (ended_at) WHERE ended_at IS NOT NULL;
