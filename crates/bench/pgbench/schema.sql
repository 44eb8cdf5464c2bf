-- The schema of the scripts: the tables that they use, with every constraint, index and trigger of commit 3c28a42. Later
-- migrations do not change it, so that the limits of different versions compare.

CREATE DOMAIN money_sum AS numeric(28, 8) CHECK (VALUE <> 'NaN');

CREATE TABLE users (
    id bigint PRIMARY KEY CHECK (id > 0),
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    email text NOT NULL CHECK (char_length(email) BETWEEN 1 AND 255),
    email_folded text NOT NULL CHECK (char_length(email_folded) BETWEEN 1 AND 1024),
    email_verified boolean NOT NULL,
    phone text CHECK (char_length(phone) BETWEEN 1 AND 255),
    phone_verified boolean NOT NULL,
    password_hash text NOT NULL CHECK (char_length(password_hash) BETWEEN 1 AND 1024),
    role text NOT NULL CHECK (role IN ('member', 'operator', 'auditor')),
    is_dj boolean NOT NULL,
    online boolean NOT NULL,
    fee_upcoming_artist money_sum NOT NULL CHECK (fee_upcoming_artist >= 0),
    fee_popular_song money_sum NOT NULL CHECK (fee_popular_song >= 0),
    played bigint NOT NULL CHECK (played >= 0),
    rating_stars bigint NOT NULL,
    rating_count bigint NOT NULL CHECK (rating_count >= 0),
    city text CHECK (char_length(city) BETWEEN 1 AND 255),
    state text CHECK (char_length(state) BETWEEN 1 AND 255),
    country text CHECK (char_length(country) BETWEEN 1 AND 255),
    latitude double precision CHECK (latitude BETWEEN -90 AND 90),
    longitude double precision CHECK (longitude BETWEEN -180 AND 180),
    radius double precision CHECK (radius BETWEEN 0 AND 20038),
    created_at timestamptz NOT NULL,
    suspended_at timestamptz,
    standing_at timestamptz,
    erased_at timestamptz,
    erasure_pending boolean NOT NULL DEFAULT false,
    CONSTRAINT users_email_folded_key UNIQUE (email_folded),
    CONSTRAINT users_email_folded_is_lower CHECK (email_folded COLLATE "C" !~ '[A-Z]'),
    CONSTRAINT users_place_is_whole CHECK ((latitude IS NULL) = (longitude IS NULL)),
    CONSTRAINT users_stars_fit_count CHECK (rating_stars BETWEEN rating_count AND 5 * rating_count),
    CONSTRAINT users_only_djs_have_prices CHECK (
        is_dj
        OR NOT online AND fee_upcoming_artist = 0 AND fee_popular_song = 0 AND played = 0 AND rating_count = 0
    ),
    CONSTRAINT users_suspension_is_noted CHECK (suspended_at IS NULL OR standing_at IS NOT NULL),
    CONSTRAINT users_erased_are_nobody CHECK (
        erased_at IS NULL
        OR password_hash = '!' AND email_folded = 'erased-' || id AND NOT email_verified AND NOT phone_verified
            AND num_nonnulls(phone, city, state, country, latitude, longitude, radius) = 0 AND NOT online
    )
);
CREATE INDEX users_by_standing ON users (standing_at) WHERE standing_at IS NOT NULL;
CREATE INDEX users_newest ON users (created_at DESC, id DESC) WHERE erased_at IS NULL;
CREATE INDEX users_djs ON users (created_at DESC, id DESC) WHERE is_dj AND erased_at IS NULL;
CREATE INDEX users_djs_by_presence ON users (online, created_at DESC, id DESC) WHERE is_dj AND erased_at IS NULL;
CREATE INDEX users_by_pending_erasure ON users (id) WHERE erasure_pending;
CREATE INDEX users_operators ON users (id) WHERE role = 'operator' AND erased_at IS NULL;

CREATE TABLE wallets (
    user_id bigint PRIMARY KEY REFERENCES users,
    available money_sum NOT NULL CHECK (available >= 0),
    held money_sum NOT NULL CHECK (held >= 0),
    owed money_sum NOT NULL CHECK (owed >= 0),
    seq bigint NOT NULL CHECK (seq >= 0),
    last_at timestamptz NOT NULL,
    head bytea NOT NULL CHECK (octet_length(head) = 32),
    CONSTRAINT wallets_without_entries_are_empty CHECK (seq > 0 OR available = 0 AND held = 0 AND owed = 0)
);

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
CREATE INDEX music_requests_open ON music_requests (requester_id, dj_id) WHERE expires_at IS NOT NULL;
CREATE INDEX music_requests_of_dj_by_status ON music_requests (dj_id, status, created_at DESC, id DESC)
    INCLUDE (expires_at);

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
    attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    retry_at timestamptz,
    reference uuid,
    approved_by bigint,
    approved_at timestamptz,
    second_approved_by bigint,
    second_approved_at timestamptz,
    CONSTRAINT withdrawals_sent_have_txid CHECK (status NOT IN ('broadcast', 'completed') OR txid IS NOT NULL),
    CONSTRAINT withdrawals_unsent_have_none
        CHECK (status IN ('broadcast', 'completed', 'failed', 'needs_review') OR txid IS NULL),
    CONSTRAINT withdrawals_change_after_creation CHECK (updated_at >= created_at),
    CONSTRAINT withdrawals_sent_while_processing
        CHECK (status = 'processing' OR (attempts = 0 AND retry_at IS NULL)),
    CONSTRAINT withdrawals_approvals_have_times CHECK (
        (approved_by IS NULL) = (approved_at IS NULL)
        AND (second_approved_by IS NULL) = (second_approved_at IS NULL)
    ),
    CONSTRAINT withdrawals_second_approval_follows_first
        CHECK (second_approved_by IS NULL OR approved_by IS NOT NULL),
    CONSTRAINT withdrawals_approved_by_two_others CHECK (
        approved_by <> user_id AND second_approved_by <> user_id AND second_approved_by <> approved_by
    ),
    CONSTRAINT withdrawals_pending_have_one_approval CHECK (status <> 'pending' OR second_approved_by IS NULL)
);
CREATE INDEX withdrawals_of_user ON withdrawals (user_id, created_at DESC, id DESC);
CREATE INDEX withdrawals_to_send ON withdrawals (retry_at NULLS FIRST, id)
    WHERE status = 'approved' OR retry_at IS NOT NULL;
CREATE INDEX withdrawals_by_status ON withdrawals (status, created_at DESC, id DESC);
CREATE INDEX withdrawals_newest ON withdrawals (created_at DESC, id DESC);
CREATE UNIQUE INDEX withdrawals_reference_key ON withdrawals (reference) WHERE reference IS NOT NULL;

-- Empty: each update of a wallet also checks whether a foreign key refers to the changed columns.
CREATE TABLE topups (user_id bigint NOT NULL REFERENCES wallets);

CREATE TABLE operations (
    id uuid PRIMARY KEY,
    kind text NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 64),
    actor_user_id bigint REFERENCES users,
    reason text CHECK (char_length(reason) BETWEEN 1 AND 255),
    at timestamptz NOT NULL,
    receipt jsonb NOT NULL CHECK (jsonb_typeof(receipt) = 'object'),
    posting_rules smallint CHECK (posting_rules > 0),
    position bigint DEFAULT 0 CHECK (position >= 0),
    owner_id bigint,
    dj_id bigint
);
CREATE INDEX operations_that_adjust ON operations (id) WHERE kind = 'adjust';
CREATE INDEX operations_that_show_profiles ON operations (((receipt #>> '{profile,user,id}')::bigint))
    WHERE receipt ? 'profile';
CREATE INDEX operations_whole_profiles ON operations (at, id) WHERE (receipt -> 'profile') ? 'balance';
CREATE INDEX operations_about_people ON operations (
    (coalesce(
        receipt #>> '{profile,user,id}',
        receipt #>> '{withdrawal,withdrawal,user_id}',
        receipt #>> '{request,requester_id}',
        receipt #>> '{topup,user_id}',
        receipt #>> '{adjustment,adjustment,user_id}'
    )::bigint),
    at,
    id
) WHERE receipt ? 'profile' OR reason IS NOT NULL;
CREATE INDEX operations_on_withdrawals ON operations (((receipt #>> '{withdrawal,withdrawal,id}')::bigint))
    WHERE kind IN ('move_withdrawal', 'approve_withdrawal');
CREATE UNIQUE INDEX operations_position_key ON operations (position) WHERE position > 0;
CREATE INDEX operations_without_position ON operations (at, id) WHERE position = 0;
CREATE INDEX operations_of_owner ON operations (owner_id, position) WHERE owner_id IS NOT NULL;
CREATE INDEX operations_of_dj ON operations (dj_id, position) WHERE dj_id IS NOT NULL;

CREATE TABLE ledger_entries (
    wallet_id bigint NOT NULL REFERENCES wallets,
    seq bigint NOT NULL CHECK (seq > 0),
    operation_id uuid NOT NULL REFERENCES operations DEFERRABLE INITIALLY DEFERRED,
    kind text NOT NULL CHECK (
        kind IN (
            'topup', 'hold', 'release', 'capture', 'earning', 'refund', 'reversal', 'adjustment', 'chargeback'
        )
    ),
    reference_kind text NOT NULL
        CHECK (reference_kind IN ('music_request', 'withdrawal', 'topup', 'adjustment')),
    reference_id bigint NOT NULL CHECK (reference_id > 0),
    available_change money_sum NOT NULL,
    held_change money_sum NOT NULL,
    owed_change money_sum NOT NULL,
    available_after money_sum NOT NULL CHECK (available_after >= 0),
    held_after money_sum NOT NULL CHECK (held_after >= 0),
    owed_after money_sum NOT NULL CHECK (owed_after >= 0),
    at timestamptz NOT NULL,
    previous bytea NOT NULL CHECK (octet_length(previous) = 32),
    hash bytea NOT NULL CHECK (octet_length(hash) = 32),
    PRIMARY KEY (wallet_id, seq),
    CONSTRAINT ledger_entries_once_per_operation UNIQUE (wallet_id, operation_id),
    CONSTRAINT ledger_entries_chain_starts_at_one
        CHECK ((seq = 1) = (previous = decode(repeat('00', 32), 'hex')))
);
CREATE INDEX ledger_entries_of_reference ON ledger_entries (reference_kind, reference_id);
CREATE INDEX ledger_entries_by_time ON ledger_entries (wallet_id, at, seq);
CREATE INDEX ledger_entries_adjustments ON ledger_entries (wallet_id, at) WHERE kind = 'adjustment';

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed or deleted', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

CREATE SEQUENCE withdrawal_ids AS bigint INCREMENT BY 1024;
CREATE SEQUENCE adjustment_ids AS bigint INCREMENT BY 32;
