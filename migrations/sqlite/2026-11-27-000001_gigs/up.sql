-- The codes of DJs. The newest one of a DJ is the current one. Rows are never deleted, so that no code is ever assigned to
-- another DJ.
CREATE TABLE gig_codes (
    code TEXT PRIMARY KEY
        CONSTRAINT gig_codes_code_check CHECK (
            length(code) = 6 AND code NOT GLOB '*[^23456789BCDFGHJKMNPQRSTVWXYZ]*'
        ),
    dj_id INTEGER NOT NULL REFERENCES users (id),
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX gig_codes_of_dj ON gig_codes (dj_id, created_at DESC);

-- The evenings of DJs. A gig is settled once no request of it can be open.
CREATE TABLE gigs (
    id INTEGER PRIMARY KEY CONSTRAINT gigs_id_check CHECK (id > 0),
    dj_id INTEGER NOT NULL REFERENCES users (id),
    code TEXT NOT NULL REFERENCES gig_codes (code),
    title TEXT NOT NULL CONSTRAINT gigs_title_check CHECK (length(title) BETWEEN 1 AND 80),
    venue TEXT CONSTRAINT gigs_venue_check CHECK (length(venue) BETWEEN 1 AND 255),
    city TEXT CONSTRAINT gigs_city_check CHECK (length(city) BETWEEN 1 AND 255),
    latitude REAL CONSTRAINT gigs_latitude_check CHECK (latitude BETWEEN -90 AND 90),
    longitude REAL CONSTRAINT gigs_longitude_check CHECK (longitude BETWEEN -180 AND 180),
    message TEXT CONSTRAINT gigs_message_check CHECK (length(message) BETWEEN 1 AND 140),
    queue_order TEXT NOT NULL
        CONSTRAINT gigs_queue_order_check CHECK (queue_order = 'rounds' OR queue_order = 'arrival'),
    max_open_per_guest INTEGER NOT NULL
        CONSTRAINT gigs_max_open_per_guest_check CHECK (max_open_per_guest BETWEEN 1 AND 100),
    members_only INTEGER NOT NULL CONSTRAINT gigs_members_only_check CHECK (members_only IN (0, 1)),
    opened_at INTEGER NOT NULL,
    ended_at INTEGER CONSTRAINT gigs_ended_at_check CHECK (ended_at >= opened_at),
    settled INTEGER NOT NULL CONSTRAINT gigs_settled_check CHECK (settled IN (0, 1)),
    CONSTRAINT gigs_have_both_coordinates CHECK ((latitude IS NULL) = (longitude IS NULL)),
    CONSTRAINT gigs_settle_after_their_end CHECK (NOT settled OR ended_at IS NOT NULL)
) STRICT;
CREATE UNIQUE INDEX gigs_one_open_per_dj ON gigs (dj_id) WHERE ended_at IS NULL;
CREATE INDEX gigs_of_dj ON gigs (dj_id, opened_at DESC, id DESC);
CREATE INDEX gigs_unsettled ON gigs (id) WHERE ended_at IS NOT NULL AND NOT settled;
CREATE INDEX gigs_open ON gigs (id) WHERE ended_at IS NULL;
CREATE INDEX gigs_by_end ON gigs (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX gigs_nearby ON gigs (latitude) WHERE ended_at IS NULL AND latitude IS NOT NULL;

-- The gig of a request. Requests without a gig cost nothing.
ALTER TABLE music_requests ADD COLUMN gig_id INTEGER REFERENCES gigs (id);
CREATE INDEX music_requests_by_gig
    ON music_requests (gig_id, expires_at) WHERE gig_id IS NOT NULL;

-- The dedications of requests. They are not columns of a request, because its receipts are permanent.
CREATE TABLE request_messages (
    request_id INTEGER PRIMARY KEY REFERENCES music_requests (id),
    message TEXT NOT NULL CONSTRAINT request_messages_message_check CHECK (length(message) BETWEEN 1 AND 140),
    created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX request_messages_by_age ON request_messages (created_at);

-- The counter of gigs. Only the text of the check changes, because the stored rows stay valid.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'OR kind = ''sessions''', 'OR kind = ''sessions'' OR kind = ''gigs''')
WHERE type = 'table' AND name = 'ids';
-- Increments the schema cookie, so that other connections read the schema again.
CREATE VIEW changed_schema AS SELECT 1;
DROP VIEW changed_schema;
PRAGMA writable_schema = RESET;
INSERT INTO ids (kind, next) VALUES ('gigs', 1);
