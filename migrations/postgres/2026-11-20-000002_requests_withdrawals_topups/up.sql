CREATE TABLE music_requests (
    id bigint PRIMARY KEY CHECK (id > 0),
    requester_id bigint NOT NULL REFERENCES users,
    dj_id bigint NOT NULL REFERENCES users,
    song_title text NOT NULL CHECK (char_length(song_title) BETWEEN 1 AND 255),
    artist_name text NOT NULL CHECK (char_length(artist_name) BETWEEN 1 AND 255),
    artist_type text NOT NULL CHECK (artist_type IN ('upcoming', 'popular')),
    music_url text NOT NULL CHECK (char_length(music_url) BETWEEN 1 AND 2048),
    fee money_sum NOT NULL CHECK (fee >= 0),
    status text NOT NULL
        CHECK (status IN ('pending', 'accepted', 'rejected', 'cancelled', 'expired', 'played', 'refunded')),
    expires_at timestamptz,
    changed_at timestamptz NOT NULL,
    commission money_sum,
    created_at timestamptz NOT NULL,
    CONSTRAINT music_requests_are_made_of_others CHECK (requester_id <> dj_id),
    CONSTRAINT music_requests_expire_while_open
        CHECK ((status IN ('pending', 'accepted')) = (expires_at IS NOT NULL)),
    CONSTRAINT music_requests_start_unchanged CHECK (status <> 'pending' OR changed_at = created_at),
    CONSTRAINT music_requests_commission_once_played
        CHECK ((status IN ('played', 'refunded')) = (commission IS NOT NULL)),
    CONSTRAINT music_requests_commission_within_fee CHECK (commission BETWEEN 0 AND fee)
);
CREATE INDEX music_requests_of_requester ON music_requests (requester_id, created_at DESC, id DESC);
CREATE INDEX music_requests_of_dj ON music_requests (dj_id, created_at DESC, id DESC);
CREATE INDEX music_requests_overdue ON music_requests (expires_at, id) WHERE expires_at IS NOT NULL;

CREATE TABLE withdrawals (
    id bigint PRIMARY KEY CHECK (id > 0),
    user_id bigint NOT NULL REFERENCES wallets,
    amount money_sum NOT NULL CHECK (amount > 0),
    wallet_address text NOT NULL CHECK (char_length(wallet_address) BETWEEN 1 AND 255),
    currency text NOT NULL CHECK (char_length(currency) BETWEEN 1 AND 255),
    network text NOT NULL CHECK (char_length(network) BETWEEN 1 AND 255),
    status text NOT NULL CHECK (
        status IN (
            'pending', 'approved', 'processing', 'broadcast', 'completed',
            'cancelled', 'rejected', 'failed', 'needs_review'
        )
    ),
    txid text CHECK (char_length(txid) BETWEEN 1 AND 255),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT withdrawals_sent_have_txid CHECK (status NOT IN ('broadcast', 'completed') OR txid IS NOT NULL),
    CONSTRAINT withdrawals_unsent_have_none
        CHECK (status IN ('broadcast', 'completed', 'failed', 'needs_review') OR txid IS NULL),
    CONSTRAINT withdrawals_change_after_creation CHECK (updated_at >= created_at)
);
CREATE INDEX withdrawals_of_user ON withdrawals (user_id, created_at DESC, id DESC);

CREATE TABLE topups (
    id bigint PRIMARY KEY CHECK (id > 0),
    user_id bigint NOT NULL REFERENCES wallets,
    amount money_sum NOT NULL CHECK (amount > 0),
    status text NOT NULL CHECK (status IN ('pending', 'confirmed', 'failed')),
    payment_url text CHECK (char_length(payment_url) BETWEEN 1 AND 255),
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    CONSTRAINT topups_change_after_creation CHECK (updated_at >= created_at)
);
CREATE INDEX topups_of_user ON topups (user_id, created_at DESC, id DESC);

CREATE SEQUENCE music_request_ids AS bigint INCREMENT BY 32;
CREATE SEQUENCE withdrawal_ids AS bigint INCREMENT BY 32;
CREATE SEQUENCE topup_ids AS bigint INCREMENT BY 32;
CREATE SEQUENCE adjustment_ids AS bigint INCREMENT BY 32;
