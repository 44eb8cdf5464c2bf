-- Tips of guests to DJs, each in a gig.
CREATE SEQUENCE tip_ids AS bigint INCREMENT BY 32;
CREATE TABLE tips (
    id bigint PRIMARY KEY CONSTRAINT tips_id_check CHECK (id > 0),
    guest_id bigint NOT NULL REFERENCES users,
    dj_id bigint NOT NULL REFERENCES users,
    gig_id bigint NOT NULL REFERENCES gigs,
    amount money_sum NOT NULL CONSTRAINT tips_amount_check CHECK (amount > 0),
    commission money_sum NOT NULL CONSTRAINT tips_commission_check CHECK (commission >= 0),
    created_at timestamptz NOT NULL,
    CONSTRAINT tips_are_given_to_others CHECK (guest_id <> dj_id),
    CONSTRAINT tips_commission_within_amount CHECK (commission <= amount)
);
CREATE INDEX tips_of_guest ON tips (guest_id, created_at DESC, id DESC);
CREATE INDEX tips_of_dj ON tips (dj_id, created_at DESC, id DESC);
CREATE INDEX tips_of_gig ON tips (gig_id, amount);
