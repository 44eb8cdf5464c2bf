-- Tips of guests to DJs, each in a gig.
CREATE TABLE tips (
    id INTEGER PRIMARY KEY CONSTRAINT tips_id_check CHECK (id > 0),
    guest_id INTEGER NOT NULL REFERENCES users (id),
    dj_id INTEGER NOT NULL REFERENCES users (id),
    gig_id INTEGER NOT NULL REFERENCES gigs (id),
    amount TEXT NOT NULL
        CONSTRAINT tips_amount_check CHECK (
            length(amount) <= 28 AND amount GLOB '[1-9]*' AND amount NOT GLOB '*[^0-9]*'
        ),
    commission TEXT NOT NULL
        CONSTRAINT tips_commission_check CHECK (
            length(commission) <= 28 AND (commission = '0' OR commission GLOB '[1-9]*')
            AND commission NOT GLOB '*[^0-9]*'
        ),
    created_at INTEGER NOT NULL,
    CONSTRAINT tips_are_given_to_others CHECK (guest_id <> dj_id),
    -- Of two canonical amounts that are not negative, the longer one is greater.
    CONSTRAINT tips_commission_within_amount CHECK ((length(commission), commission) <= (length(amount), amount))
) STRICT;
CREATE INDEX tips_of_guest ON tips (guest_id, created_at DESC, id DESC);
CREATE INDEX tips_of_dj ON tips (dj_id, created_at DESC, id DESC);
CREATE INDEX tips_of_gig ON tips (gig_id, amount);

-- The counter and the entries of tips. Only the texts of the checks change, because the stored rows stay valid.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'OR kind = ''gigs''', 'OR kind = ''gigs'' OR kind = ''tips''')
WHERE type = 'table' AND name = 'ids';
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'OR kind = ''chargeback''', 'OR kind = ''chargeback'' OR kind = ''tip'''),
    'OR reference_kind = ''adjustment''', 'OR reference_kind = ''adjustment'' OR reference_kind = ''tip''')
WHERE type = 'table' AND name = 'ledger_entries';
-- Increments the schema cookie, so that other connections read the schema again.
CREATE VIEW changed_schema AS SELECT 1;
DROP VIEW changed_schema;
PRAGMA writable_schema = RESET;
INSERT INTO ids (kind, next) VALUES ('tips', 1);
