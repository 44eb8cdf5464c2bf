-- The codes of DJs. The newest one of a DJ is the current one. Rows are never deleted, so that no code is ever assigned to
-- another DJ.
CREATE TABLE gig_codes (
    -- Compared by its bytes, as in SQLite, because a copy reads the table in this order.
    code text COLLATE "C" PRIMARY KEY CONSTRAINT gig_codes_code_check CHECK (code ~ '^[2-9BCDFGHJKMNPQRSTVWXYZ]{6}$'),
    dj_id bigint NOT NULL REFERENCES users,
    created_at timestamptz NOT NULL
);
CREATE INDEX gig_codes_of_dj ON gig_codes (dj_id, created_at DESC);

-- The evenings of DJs. A gig is settled once no request of it can be open.
CREATE SEQUENCE gig_ids AS bigint INCREMENT BY 32;
CREATE TABLE gigs (
    id bigint PRIMARY KEY CONSTRAINT gigs_id_check CHECK (id > 0),
    dj_id bigint NOT NULL REFERENCES users,
    code text NOT NULL REFERENCES gig_codes,
    title text NOT NULL CONSTRAINT gigs_title_check CHECK (char_length(title) BETWEEN 1 AND 80),
    venue text CONSTRAINT gigs_venue_check CHECK (char_length(venue) BETWEEN 1 AND 255),
    city text CONSTRAINT gigs_city_check CHECK (char_length(city) BETWEEN 1 AND 255),
    latitude double precision CONSTRAINT gigs_latitude_check CHECK (latitude BETWEEN -90 AND 90),
    longitude double precision CONSTRAINT gigs_longitude_check CHECK (longitude BETWEEN -180 AND 180),
    message text CONSTRAINT gigs_message_check CHECK (char_length(message) BETWEEN 1 AND 140),
    queue_order text NOT NULL CONSTRAINT gigs_queue_order_check CHECK (queue_order IN ('rounds', 'arrival')),
    max_open_per_guest smallint NOT NULL
        CONSTRAINT gigs_max_open_per_guest_check CHECK (max_open_per_guest BETWEEN 1 AND 100),
    members_only boolean NOT NULL,
    opened_at timestamptz NOT NULL,
    ended_at timestamptz CONSTRAINT gigs_ended_at_check CHECK (ended_at >= opened_at),
    settled boolean NOT NULL,
    CONSTRAINT gigs_have_both_coordinates CHECK ((latitude IS NULL) = (longitude IS NULL)),
    CONSTRAINT gigs_settle_after_their_end CHECK (NOT settled OR ended_at IS NOT NULL)
);
CREATE UNIQUE INDEX gigs_one_open_per_dj ON gigs (dj_id) WHERE ended_at IS NULL;
CREATE INDEX gigs_of_dj ON gigs (dj_id, opened_at DESC, id DESC);
CREATE INDEX gigs_unsettled ON gigs (id) WHERE ended_at IS NOT NULL AND NOT settled;
CREATE INDEX gigs_open ON gigs (id) WHERE ended_at IS NULL;
CREATE INDEX gigs_by_end ON gigs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX gigs_nearby ON gigs (latitude) WHERE ended_at IS NULL AND latitude IS NOT NULL;
