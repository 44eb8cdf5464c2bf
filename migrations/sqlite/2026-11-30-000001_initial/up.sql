-- Encodings: amounts are TEXT, canonical integers of minor units of the deployment's currency; times are
-- INTEGER, microseconds since the start of 1970; ids of operations are BLOB, 16 bytes; booleans are 0 or 1.
-- No statement computes with amounts. Every connection has foreign_keys and recursive_triggers on: without
-- the latter, REPLACE would bypass the triggers.

-- The currency of every amount in this database, the identity and epoch of the data, the mark of a copy to
-- another store, and the id of the copy that wrote the database. A copy is `moving` from before its commit
-- until after it, then `moved`. One row, written at the first start.
CREATE TABLE deployment (
    singleton INTEGER PRIMARY KEY CONSTRAINT deployment_singleton_check CHECK (singleton = 1),
    currency TEXT NOT NULL
        CONSTRAINT deployment_currency_check CHECK (
            length(currency) BETWEEN 3 AND 12 AND currency NOT GLOB '*[^A-Z0-9]*'
        ),
    scale INTEGER NOT NULL CONSTRAINT deployment_scale_check CHECK (scale BETWEEN 0 AND 8),
    created_at INTEGER NOT NULL,
    database_id BLOB NOT NULL CONSTRAINT deployment_database_id_check CHECK (length(database_id) = 16),
    epoch INTEGER NOT NULL DEFAULT 0 CONSTRAINT deployment_epoch_check CHECK (epoch >= 0),
    feature_level INTEGER NOT NULL CONSTRAINT deployment_feature_level_check CHECK (feature_level BETWEEN 0 AND 32767),
    copy_state TEXT CONSTRAINT deployment_copy_state_check CHECK (copy_state IN ('moving', 'moved')),
    copy_id BLOB CONSTRAINT deployment_copy_id_check CHECK (length(copy_id) = 16),
    copy_target TEXT CONSTRAINT deployment_copy_target_check CHECK (length(copy_target) BETWEEN 1 AND 8192),
    origin_copy_id BLOB CONSTRAINT deployment_origin_copy_id_check CHECK (length(origin_copy_id) = 16),
    -- The copy that was begun into this database, and may have been interrupted.
    begun_copy_id BLOB
        CONSTRAINT deployment_begun_copy_id_check CHECK (length(begun_copy_id) = 16),
    CONSTRAINT deployment_copy_is_identified CHECK (
        (copy_state IS NULL) = (copy_id IS NULL) AND (copy_state IS NULL) = (copy_target IS NULL)
    )
) STRICT;

-- Creation of the first operator, independent of later changes to the account: one row, written once.
CREATE TABLE bootstrap_operator (
    singleton INTEGER PRIMARY KEY CONSTRAINT bootstrap_operator_singleton_check CHECK (singleton = 1),
    made_at INTEGER NOT NULL
) STRICT;

-- The next id of each kind; a server reserves blocks of ids and assigns them from memory.
CREATE TABLE ids (
    kind TEXT PRIMARY KEY
        CONSTRAINT ids_kind_check CHECK (
            kind = 'users' OR kind = 'music_requests' OR kind = 'withdrawals' OR kind = 'topups'
            OR kind = 'adjustments' OR kind = 'sessions' OR kind = 'gigs' OR kind = 'tips'
        ),
    next INTEGER NOT NULL CONSTRAINT ids_next_check CHECK (next > 0)
) STRICT, WITHOUT ROWID;

INSERT INTO ids (kind, next) VALUES
    ('users', 1), ('music_requests', 1), ('withdrawals', 1), ('topups', 1), ('adjustments', 1), ('sessions', 1),
    ('gigs', 1), ('tips', 1);

CREATE TABLE users (
    id INTEGER PRIMARY KEY CONSTRAINT users_id_check CHECK (id > 0),
    name TEXT NOT NULL CONSTRAINT users_name_check CHECK (length(name) BETWEEN 1 AND 255),
    email TEXT NOT NULL CONSTRAINT users_email_check CHECK (length(email) BETWEEN 1 AND 255),
    email_folded TEXT NOT NULL CONSTRAINT users_email_folded_check CHECK (length(email_folded) BETWEEN 1 AND 1024),
    email_verified INTEGER NOT NULL CONSTRAINT users_email_verified_check CHECK (email_verified IN (0, 1)),
    phone TEXT CONSTRAINT users_phone_check CHECK (length(phone) BETWEEN 1 AND 255),
    phone_verified INTEGER NOT NULL CONSTRAINT users_phone_verified_check CHECK (phone_verified IN (0, 1)),
    password_hash TEXT NOT NULL CONSTRAINT users_password_hash_check CHECK (length(password_hash) BETWEEN 1 AND 1024),
    role TEXT NOT NULL
        CONSTRAINT users_role_check CHECK (role = 'member' OR role = 'operator' OR role = 'auditor' OR role = 'guest'),
    is_dj INTEGER NOT NULL CONSTRAINT users_is_dj_check CHECK (is_dj IN (0, 1)),
    online INTEGER NOT NULL CONSTRAINT users_online_check CHECK (online IN (0, 1)),
    fee_upcoming_artist TEXT NOT NULL
        CONSTRAINT users_fee_upcoming_artist_check CHECK (
            length(fee_upcoming_artist) <= 28 AND (fee_upcoming_artist = '0' OR fee_upcoming_artist GLOB '[1-9]*')
            AND fee_upcoming_artist NOT GLOB '*[^0-9]*'
        ),
    fee_popular_song TEXT NOT NULL
        CONSTRAINT users_fee_popular_song_check CHECK (
            length(fee_popular_song) <= 28 AND (fee_popular_song = '0' OR fee_popular_song GLOB '[1-9]*')
            AND fee_popular_song NOT GLOB '*[^0-9]*'
        ),
    played INTEGER NOT NULL CONSTRAINT users_played_check CHECK (played >= 0),
    rating_stars INTEGER NOT NULL,
    rating_count INTEGER NOT NULL CONSTRAINT users_rating_count_check CHECK (rating_count >= 0),
    city TEXT CONSTRAINT users_city_check CHECK (length(city) BETWEEN 1 AND 255),
    state TEXT CONSTRAINT users_state_check CHECK (length(state) BETWEEN 1 AND 255),
    country TEXT CONSTRAINT users_country_check CHECK (length(country) BETWEEN 1 AND 255),
    latitude REAL CONSTRAINT users_latitude_check CHECK (latitude BETWEEN -90 AND 90),
    longitude REAL CONSTRAINT users_longitude_check CHECK (longitude BETWEEN -180 AND 180),
    radius REAL CONSTRAINT users_radius_check CHECK (radius BETWEEN 0 AND 20038),
    created_at INTEGER NOT NULL,
    suspended_at INTEGER,
    standing_at INTEGER,
    erased_at INTEGER,
    -- Whether identifying rows of an erased user remain, which a background job removes.
    erasure_pending INTEGER NOT NULL DEFAULT 0
        CONSTRAINT users_erasure_pending_check CHECK (erasure_pending IN (0, 1)),
    -- The last change of the e-mail address or reset of the password.
    login_changed_at INTEGER,
    CONSTRAINT users_email_folded_key UNIQUE (email_folded),
    CONSTRAINT users_email_folded_is_lower CHECK (email_folded NOT GLOB '*[A-Z]*'),
    CONSTRAINT users_place_is_whole CHECK ((latitude IS NULL) = (longitude IS NULL)),
    CONSTRAINT users_stars_fit_count CHECK (rating_stars BETWEEN rating_count AND 5 * rating_count),
    CONSTRAINT users_only_djs_have_prices CHECK (
        is_dj
        OR NOT online AND fee_upcoming_artist = '0' AND fee_popular_song = '0' AND played = 0 AND rating_count = 0
    ),
    CONSTRAINT users_guests_have_no_login CHECK (
        role <> 'guest' OR erased_at IS NOT NULL
        OR password_hash = '!' AND email_folded = 'guest-' || id AND NOT email_verified AND NOT phone_verified
            AND coalesce(phone, city, state, country, latitude, longitude, radius) IS NULL AND NOT is_dj
    ),
    CONSTRAINT users_suspension_is_noted CHECK (suspended_at IS NULL OR standing_at IS NOT NULL),
    -- No password verifies against '!'.
    CONSTRAINT users_erased_are_nobody CHECK (
        erased_at IS NULL
        OR password_hash = '!' AND email_folded = 'erased-' || id AND NOT email_verified AND NOT phone_verified
            AND coalesce(phone, city, state, country, latitude, longitude, radius) IS NULL AND NOT online
    )
) STRICT;

-- The conditions are columns too, so that a list is counted from its index alone.
CREATE INDEX users_djs ON users (is_dj, created_at DESC, id DESC, erased_at) WHERE erased_at IS NULL;
CREATE INDEX users_djs_by_presence ON users (is_dj, online, created_at DESC, id DESC, erased_at)
    WHERE erased_at IS NULL;
-- Changes of account status since a time.
CREATE INDEX users_by_standing ON users (standing_at) WHERE standing_at IS NOT NULL;
CREATE INDEX users_newest ON users (created_at DESC, id DESC, erased_at) WHERE erased_at IS NULL;
CREATE INDEX users_by_pending_erasure ON users (id) WHERE erasure_pending;
CREATE INDEX users_operators ON users (id) WHERE role = 'operator' AND erased_at IS NULL;
-- The guest accounts that may be unused.
CREATE INDEX users_guests ON users (id) WHERE role = 'guest' AND erased_at IS NULL;

-- The present balances, each equal to those after the wallet's newest entry.
CREATE TABLE wallets (
    user_id INTEGER PRIMARY KEY REFERENCES users (id),
    available TEXT NOT NULL
        CONSTRAINT wallets_available_check CHECK (
            length(available) <= 28 AND (available = '0' OR available GLOB '[1-9]*')
            AND available NOT GLOB '*[^0-9]*'
        ),
    held TEXT NOT NULL
        CONSTRAINT wallets_held_check CHECK (
            length(held) <= 28 AND (held = '0' OR held GLOB '[1-9]*') AND held NOT GLOB '*[^0-9]*'
        ),
    owed TEXT NOT NULL
        CONSTRAINT wallets_owed_check CHECK (
            length(owed) <= 28 AND (owed = '0' OR owed GLOB '[1-9]*') AND owed NOT GLOB '*[^0-9]*'
        ),
    seq INTEGER NOT NULL CONSTRAINT wallets_seq_check CHECK (seq >= 0),
    last_at INTEGER NOT NULL,
    head BLOB NOT NULL CONSTRAINT wallets_head_check CHECK (length(head) = 32),
    CONSTRAINT wallets_without_entries_are_empty
        CHECK (seq > 0 OR available = '0' AND held = '0' AND owed = '0')
) STRICT;

-- The codes of DJs. The newest one of a DJ is the current one. Rows are never deleted, so that no code is ever assigned
-- to another DJ.
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
CREATE INDEX gigs_nearby ON gigs (latitude) WHERE ended_at IS NULL AND latitude IS NOT NULL;
CREATE INDEX gigs_by_end ON gigs (ended_at) WHERE ended_at IS NOT NULL;

CREATE TABLE music_requests (
    id INTEGER PRIMARY KEY CONSTRAINT music_requests_id_check CHECK (id > 0),
    requester_id INTEGER NOT NULL REFERENCES users (id),
    dj_id INTEGER NOT NULL REFERENCES users (id),
    song_title TEXT NOT NULL CONSTRAINT music_requests_song_title_check CHECK (length(song_title) BETWEEN 1 AND 255),
    artist_name TEXT NOT NULL
        CONSTRAINT music_requests_artist_name_check CHECK (length(artist_name) BETWEEN 1 AND 255),
    artist_type TEXT NOT NULL
        CONSTRAINT music_requests_artist_type_check CHECK (artist_type IN ('upcoming', 'popular')),
    music_url TEXT NOT NULL CONSTRAINT music_requests_music_url_check CHECK (length(music_url) BETWEEN 1 AND 2048),
    fee TEXT NOT NULL
        CONSTRAINT music_requests_fee_check CHECK (
            length(fee) <= 28 AND (fee = '0' OR fee GLOB '[1-9]*') AND fee NOT GLOB '*[^0-9]*'
        ),
    status TEXT NOT NULL
        CONSTRAINT music_requests_status_check CHECK (
            status = 'pending' OR status = 'accepted' OR status = 'rejected' OR status = 'cancelled'
            OR status = 'expired' OR status = 'played' OR status = 'refunded'
        ),
    expires_at INTEGER,
    changed_at INTEGER NOT NULL,
    commission TEXT
        CONSTRAINT music_requests_commission_check CHECK (
            length(commission) <= 28 AND (commission = '0' OR commission GLOB '[1-9]*')
            AND commission NOT GLOB '*[^0-9]*'
        ),
    created_at INTEGER NOT NULL,
    gig_id INTEGER REFERENCES gigs (id),
    -- Whether it counted as a guest's when it was made, and whether a request with a fee took its place.
    counts_as_guest INTEGER NOT NULL DEFAULT 0
        CONSTRAINT music_requests_counts_as_guest_check CHECK (counts_as_guest IN (0, 1)),
    displaced INTEGER NOT NULL DEFAULT 0
        CONSTRAINT music_requests_displaced_check CHECK (
            displaced = 0 OR (displaced = 1 AND status = 'rejected' AND fee = '0' AND gig_id IS NOT NULL)
        ),
    CONSTRAINT music_requests_are_made_of_others CHECK (requester_id <> dj_id),
    CONSTRAINT music_requests_expire_while_open
        CHECK ((status IN ('pending', 'accepted')) = (expires_at IS NOT NULL)),
    CONSTRAINT music_requests_start_unchanged CHECK (status <> 'pending' OR changed_at = created_at),
    CONSTRAINT music_requests_commission_once_played
        CHECK ((status IN ('played', 'refunded')) = (commission IS NOT NULL)),
    -- Of two canonical amounts that are not negative, the longer one is greater.
    CONSTRAINT music_requests_commission_within_fee
        CHECK ((length(commission), commission) <= (length(fee), fee))
) STRICT;

CREATE INDEX music_requests_of_requester ON music_requests (requester_id, created_at DESC, id DESC);
CREATE INDEX music_requests_overdue ON music_requests (expires_at, id) WHERE expires_at IS NOT NULL;
CREATE INDEX music_requests_open ON music_requests (requester_id, expires_at, id) WHERE expires_at IS NOT NULL;
-- Status and expiry are columns too, so that a DJ's list is filtered and counted from its index alone; they come
-- last, so that a change of them moves no entry to another page.
CREATE INDEX music_requests_of_dj ON music_requests (dj_id, created_at DESC, id DESC, status, expires_at);
CREATE INDEX music_requests_of_gig
    ON music_requests (gig_id, expires_at, counts_as_guest, status) WHERE gig_id IS NOT NULL;

-- The dedications of requests. They are not columns of a request, because its receipts are permanent.
CREATE TABLE request_messages (
    request_id INTEGER PRIMARY KEY REFERENCES music_requests (id),
    message TEXT NOT NULL CONSTRAINT request_messages_message_check CHECK (length(message) BETWEEN 1 AND 140),
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX request_messages_by_age ON request_messages (created_at);

-- The ratings of played requests by their guests. Their sum and number are columns of `users`.
CREATE TABLE ratings (
    request_id INTEGER PRIMARY KEY REFERENCES music_requests (id),
    stars INTEGER NOT NULL CONSTRAINT ratings_stars_check CHECK (stars BETWEEN 1 AND 5),
    rated_at INTEGER NOT NULL
) STRICT;

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

CREATE TABLE withdrawals (
    id INTEGER PRIMARY KEY CONSTRAINT withdrawals_id_check CHECK (id > 0),
    user_id INTEGER NOT NULL REFERENCES wallets (user_id),
    amount TEXT NOT NULL
        CONSTRAINT withdrawals_amount_check CHECK (
            length(amount) <= 28 AND amount GLOB '[1-9]*' AND amount NOT GLOB '*[^0-9]*'
        ),
    wallet_address TEXT NOT NULL
        CONSTRAINT withdrawals_wallet_address_check CHECK (length(wallet_address) BETWEEN 1 AND 255),
    currency TEXT NOT NULL CONSTRAINT withdrawals_currency_check CHECK (length(currency) BETWEEN 1 AND 255),
    network TEXT NOT NULL CONSTRAINT withdrawals_network_check CHECK (length(network) BETWEEN 1 AND 255),
    status TEXT NOT NULL
        CONSTRAINT withdrawals_status_check CHECK (
            status = 'pending' OR status = 'approved' OR status = 'processing' OR status = 'broadcast'
            OR status = 'completed' OR status = 'cancelled' OR status = 'rejected' OR status = 'failed'
            OR status = 'needs_review'
        ),
    txid TEXT CONSTRAINT withdrawals_txid_check CHECK (length(txid) BETWEEN 1 AND 255),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- The number of orders to the payout provider, and the time of the next one.
    attempts INTEGER NOT NULL DEFAULT 0
        CONSTRAINT withdrawals_attempts_check CHECK (attempts BETWEEN 0 AND 2147483647),
    retry_at INTEGER,
    -- The operation that opened it: its reference at the payout provider.
    reference BLOB CONSTRAINT withdrawals_reference_check CHECK (length(reference) = 16),
    -- The operators who approved it, in order. No foreign keys: the operations of the approvals have them.
    approved_by INTEGER,
    approved_at INTEGER,
    second_approved_by INTEGER,
    second_approved_at INTEGER,
    CONSTRAINT withdrawals_sent_have_txid CHECK (status NOT IN ('broadcast', 'completed') OR txid IS NOT NULL),
    CONSTRAINT withdrawals_unsent_have_none
        CHECK (
            status = 'broadcast' OR status = 'completed' OR status = 'failed' OR status = 'needs_review' OR txid IS NULL
        ),
    CONSTRAINT withdrawals_change_after_creation CHECK (updated_at >= created_at),
    CONSTRAINT withdrawals_sent_while_processing
        CHECK (status = 'processing' OR attempts = 0 AND retry_at IS NULL),
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
) STRICT;

CREATE INDEX withdrawals_of_user ON withdrawals (user_id, created_at DESC, id DESC);
CREATE INDEX withdrawals_by_status ON withdrawals (status, created_at DESC, id DESC);
CREATE INDEX withdrawals_newest ON withdrawals (created_at DESC, id DESC);
CREATE INDEX withdrawals_to_send ON withdrawals (retry_at, id) WHERE status = 'approved' OR retry_at IS NOT NULL;
CREATE UNIQUE INDEX withdrawals_reference_key ON withdrawals (reference) WHERE reference IS NOT NULL;

CREATE TABLE topups (
    id INTEGER PRIMARY KEY CONSTRAINT topups_id_check CHECK (id > 0),
    user_id INTEGER NOT NULL REFERENCES wallets (user_id),
    amount TEXT NOT NULL
        CONSTRAINT topups_amount_check CHECK (
            length(amount) <= 28 AND amount GLOB '[1-9]*' AND amount NOT GLOB '*[^0-9]*'
        ),
    status TEXT NOT NULL
        CONSTRAINT topups_status_check CHECK (
            status = 'pending' OR status = 'confirmed' OR status = 'failed' OR status = 'reversed'
        ),
    payment_url TEXT CONSTRAINT topups_payment_url_check CHECK (length(payment_url) BETWEEN 1 AND 2048),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    -- The operation that opened it: its reference at the payment provider.
    reference BLOB CONSTRAINT topups_reference_check CHECK (length(reference) = 16),
    -- The number of orders to the payment provider, and the time of the next one.
    attempts INTEGER CONSTRAINT topups_attempts_check CHECK (attempts BETWEEN 0 AND 2147483647),
    order_at INTEGER,
    -- Money that arrived after the owner was erased: the operation that recorded it, and the one that settled
    -- it. No foreign key of the operator: the operation of the settlement has one.
    suspense_operation BLOB CONSTRAINT topups_suspense_operation_check CHECK (length(suspense_operation) = 16),
    suspense_at INTEGER,
    settled_operation BLOB CONSTRAINT topups_settled_operation_check CHECK (length(settled_operation) = 16),
    settled_at INTEGER,
    settled_by INTEGER CONSTRAINT topups_settled_by_check CHECK (settled_by > 0),
    settled_reason TEXT CONSTRAINT topups_settled_reason_check CHECK (length(settled_reason) BETWEEN 1 AND 255),
    -- The code of the DJ on whose page the payment began.
    page_code TEXT
        CONSTRAINT topups_page_code_check CHECK (
            length(page_code) = 6 AND page_code NOT GLOB '*[^23456789BCDFGHJKMNPQRSTVWXYZ]*'
        ),
    CONSTRAINT topups_change_after_creation CHECK (updated_at >= created_at),
    CONSTRAINT topups_ordered_with_attempts CHECK (order_at IS NULL OR attempts IS NOT NULL),
    CONSTRAINT topups_suspended_have_failed CHECK (
        suspense_operation IS NULL AND suspense_at IS NULL
        OR suspense_operation IS NOT NULL AND suspense_at IS NOT NULL AND status = 'failed'
    ),
    CONSTRAINT topups_settled_were_suspended CHECK (
        settled_operation IS NULL AND settled_at IS NULL AND settled_by IS NULL AND settled_reason IS NULL
        OR settled_operation IS NOT NULL AND settled_at IS NOT NULL AND settled_by IS NOT NULL
            AND settled_reason IS NOT NULL AND suspense_operation IS NOT NULL AND settled_at >= suspense_at
    )
) STRICT;

CREATE INDEX topups_of_user ON topups (user_id, created_at DESC, id DESC);
CREATE UNIQUE INDEX topups_reference_key ON topups (reference) WHERE reference IS NOT NULL;
CREATE INDEX topups_to_order ON topups (order_at, id) WHERE order_at IS NOT NULL;
CREATE INDEX topups_in_suspense ON topups ((settled_operation IS NOT NULL), suspense_at DESC, id DESC)
    WHERE suspense_operation IS NOT NULL;

-- Each operation with its receipt.
CREATE TABLE operations (
    id BLOB NOT NULL PRIMARY KEY CONSTRAINT operations_id_check CHECK (length(id) = 16),
    kind TEXT NOT NULL CONSTRAINT operations_kind_check CHECK (length(kind) BETWEEN 1 AND 64),
    -- No foreign key: SQLite would read all operations for each deleted user.
    actor_user_id INTEGER,
    reason TEXT CONSTRAINT operations_reason_check CHECK (length(reason) BETWEEN 1 AND 255),
    at INTEGER NOT NULL,
    receipt TEXT NOT NULL
        CONSTRAINT operations_receipt_check CHECK (
            CASE WHEN json_valid(receipt) THEN json_type(receipt) = 'object' ELSE 0 END
        ),
    posting_rules INTEGER CONSTRAINT operations_posting_rules_check CHECK (posting_rules BETWEEN 1 AND 32767),
    -- The place in the order of commits.
    position INTEGER CONSTRAINT operations_position_check CHECK (position > 0),
    -- The owner of the entity and the DJ of a request, if the operation has an event for them.
    owner_id INTEGER,
    dj_id INTEGER
) STRICT;

-- Adjustments have no table of their own.
CREATE INDEX operations_that_adjust ON operations (id) WHERE kind = 'adjust';
-- Receipts with an unredacted profile, oldest first; a redacted one leaves the index.
CREATE INDEX operations_whole_profiles ON operations (at, id)
    WHERE json_type(receipt, '$.profile.balance') IS NOT NULL;
-- Changes of a user's profile or account, and operations with a reason that concern them: for export and
-- erasure.
CREATE INDEX operations_about_people ON operations (
    coalesce(
        json_extract(receipt, '$.profile.user.id'),
        json_extract(receipt, '$.withdrawal.withdrawal.user_id'),
        json_extract(receipt, '$.request.requester_id'),
        json_extract(receipt, '$.topup.user_id'),
        json_extract(receipt, '$.adjustment.adjustment.user_id')
    ),
    at,
    id
) WHERE json_type(receipt, '$.profile') IS NOT NULL OR reason IS NOT NULL;
CREATE INDEX operations_on_withdrawals ON operations (json_extract(receipt, '$.withdrawal.withdrawal.id'))
    WHERE kind IN ('move_withdrawal', 'approve_withdrawal');
CREATE UNIQUE INDEX operations_position_key ON operations (position);
-- The events of one user, and the search for those of the owners of webhook endpoints.
CREATE INDEX operations_of_owner ON operations (owner_id, position) WHERE owner_id IS NOT NULL;
CREATE INDEX operations_of_dj ON operations (dj_id, position) WHERE dj_id IS NOT NULL;

-- Positions that no operation has or will have, because commits may have been lost: those between the newest one
-- before a restore and the next one.
CREATE TABLE position_gaps (
    last INTEGER PRIMARY KEY CONSTRAINT position_gaps_last_check CHECK (last >= 0),
    next INTEGER NOT NULL,
    CONSTRAINT position_gaps_is_a_range CHECK (last < next)
) STRICT;

-- Idempotency keys of clients, stored for seven days.
CREATE TABLE idempotency_keys (
    scope BLOB NOT NULL PRIMARY KEY CONSTRAINT idempotency_keys_scope_check CHECK (length(scope) = 32),
    fingerprint BLOB NOT NULL CONSTRAINT idempotency_keys_fingerprint_check CHECK (length(fingerprint) = 32),
    operation_id BLOB NOT NULL REFERENCES operations (id),
    at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);

-- The chain of each wallet: the changes by each operation, and the balances after it.
CREATE TABLE ledger_entries (
    wallet_id INTEGER NOT NULL REFERENCES wallets (user_id),
    seq INTEGER NOT NULL CONSTRAINT ledger_entries_seq_check CHECK (seq > 0),
    operation_id BLOB NOT NULL REFERENCES operations (id),
    kind TEXT NOT NULL
        CONSTRAINT ledger_entries_kind_check CHECK (
            kind = 'topup' OR kind = 'hold' OR kind = 'release' OR kind = 'capture' OR kind = 'earning'
            OR kind = 'refund' OR kind = 'reversal' OR kind = 'adjustment' OR kind = 'chargeback' OR kind = 'tip'
        ),
    reference_kind TEXT NOT NULL
        CONSTRAINT ledger_entries_reference_kind_check CHECK (
            reference_kind = 'music_request' OR reference_kind = 'withdrawal' OR reference_kind = 'topup'
            OR reference_kind = 'adjustment' OR reference_kind = 'tip'
        ),
    reference_id INTEGER NOT NULL CONSTRAINT ledger_entries_reference_id_check CHECK (reference_id > 0),
    available_change TEXT NOT NULL
        CONSTRAINT ledger_entries_available_change_check CHECK (
            length(available_change) <= 29
            AND (available_change = '0' OR available_change GLOB '[1-9]*' OR available_change GLOB '-[1-9]*')
            AND substr(available_change, 2) NOT GLOB '*[^0-9]*'
        ),
    held_change TEXT NOT NULL
        CONSTRAINT ledger_entries_held_change_check CHECK (
            length(held_change) <= 29
            AND (held_change = '0' OR held_change GLOB '[1-9]*' OR held_change GLOB '-[1-9]*')
            AND substr(held_change, 2) NOT GLOB '*[^0-9]*'
        ),
    owed_change TEXT NOT NULL
        CONSTRAINT ledger_entries_owed_change_check CHECK (
            length(owed_change) <= 29
            AND (owed_change = '0' OR owed_change GLOB '[1-9]*' OR owed_change GLOB '-[1-9]*')
            AND substr(owed_change, 2) NOT GLOB '*[^0-9]*'
        ),
    available_after TEXT NOT NULL
        CONSTRAINT ledger_entries_available_after_check CHECK (
            length(available_after) <= 28 AND (available_after = '0' OR available_after GLOB '[1-9]*')
            AND available_after NOT GLOB '*[^0-9]*'
        ),
    held_after TEXT NOT NULL
        CONSTRAINT ledger_entries_held_after_check CHECK (
            length(held_after) <= 28 AND (held_after = '0' OR held_after GLOB '[1-9]*')
            AND held_after NOT GLOB '*[^0-9]*'
        ),
    owed_after TEXT NOT NULL
        CONSTRAINT ledger_entries_owed_after_check CHECK (
            length(owed_after) <= 28 AND (owed_after = '0' OR owed_after GLOB '[1-9]*')
            AND owed_after NOT GLOB '*[^0-9]*'
        ),
    at INTEGER NOT NULL,
    previous BLOB NOT NULL CONSTRAINT ledger_entries_previous_check CHECK (length(previous) = 32),
    hash BLOB NOT NULL CONSTRAINT ledger_entries_hash_check CHECK (length(hash) = 32),
    PRIMARY KEY (wallet_id, seq),
    -- The operation first, so that new entries come last in its index.
    CONSTRAINT ledger_entries_once_per_operation UNIQUE (operation_id, wallet_id),
    CONSTRAINT ledger_entries_chain_starts_at_one CHECK ((seq = 1) = (previous = zeroblob(32)))
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_entries_of_reference ON ledger_entries (reference_kind, reference_id);
CREATE INDEX ledger_entries_adjustments ON ledger_entries (wallet_id, at) WHERE kind = 'adjustment';
CREATE INDEX ledger_entries_income ON ledger_entries (wallet_id, at) WHERE kind IN ('topup', 'earning');

-- Transfers of the platform and of outside accounts, whose balances are the sums.
CREATE TABLE postings (
    id INTEGER PRIMARY KEY,
    operation_id BLOB NOT NULL REFERENCES operations (id),
    account TEXT NOT NULL
        CONSTRAINT postings_account_check CHECK (
            account = 'platform_commission' OR account = 'outside_topups' OR account = 'outside_payouts'
            OR account = 'outside_adjustments' OR account = 'outside_suspense'
        ),
    amount TEXT NOT NULL
        CONSTRAINT postings_amount_check CHECK (
            length(amount) <= 29 AND (amount GLOB '[1-9]*' OR amount GLOB '-[1-9]*')
            AND substr(amount, 2) NOT GLOB '*[^0-9]*'
        ),
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX postings_of_operation ON postings (operation_id);

-- Logins, each with its client info and the end of its newest refresh token.
CREATE TABLE sessions (
    id INTEGER PRIMARY KEY CONSTRAINT sessions_id_check CHECK (id > 0),
    user_id INTEGER NOT NULL REFERENCES users (id),
    began_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    address TEXT CONSTRAINT sessions_address_check CHECK (length(address) BETWEEN 2 AND 45),
    agent TEXT CONSTRAINT sessions_agent_check CHECK (length(agent) BETWEEN 1 AND 255),
    -- The cookie of a browser's session. Other sessions have refresh tokens.
    cookie_hash BLOB
        CONSTRAINT sessions_cookie_hash_check CHECK (length(cookie_hash) = 32)
) STRICT;

CREATE INDEX sessions_of_user ON sessions (user_id, began_at DESC, id DESC);
CREATE INDEX sessions_ended ON sessions (ended_at) WHERE ended_at IS NOT NULL;
CREATE INDEX sessions_by_end ON sessions (min(coalesce(ended_at, expires_at), expires_at));
-- Each cookie belongs to one session. Sessions without a cookie cost nothing.
CREATE UNIQUE INDEX sessions_cookie_hash_key ON sessions (cookie_hash) WHERE cookie_hash IS NOT NULL;

CREATE TABLE refresh_tokens (
    hash BLOB NOT NULL PRIMARY KEY CONSTRAINT refresh_tokens_hash_check CHECK (length(hash) = 32),
    session_id INTEGER NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    issued_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    used_at INTEGER
) STRICT, WITHOUT ROWID;

-- Of a session only the newest token is unused.
CREATE UNIQUE INDEX refresh_tokens_one_unused ON refresh_tokens (session_id) WHERE used_at IS NULL;
CREATE INDEX refresh_tokens_of_session ON refresh_tokens (session_id);
CREATE INDEX refresh_tokens_by_end ON refresh_tokens (expires_at);

-- The sessions that are personal access tokens of programs.
CREATE TABLE personal_tokens (
    session_id INTEGER PRIMARY KEY REFERENCES sessions (id) ON DELETE CASCADE,
    name TEXT NOT NULL CONSTRAINT personal_tokens_name_check CHECK (length(name) BETWEEN 1 AND 255),
    hash BLOB NOT NULL CONSTRAINT personal_tokens_hash_check CHECK (length(hash) = 32),
    scopes TEXT NOT NULL CONSTRAINT personal_tokens_scopes_check CHECK (length(scopes) BETWEEN 1 AND 255),
    CONSTRAINT personal_tokens_hash_key UNIQUE (hash)
) STRICT;

-- The networks of a user's sessions, each with the time of its last use; stored for 30 days.
CREATE TABLE login_networks (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id),
    network TEXT NOT NULL CONSTRAINT login_networks_network_check CHECK (length(network) BETWEEN 5 AND 64),
    seen_at INTEGER NOT NULL,
    CONSTRAINT login_networks_once UNIQUE (user_id, network)
) STRICT;

CREATE INDEX login_networks_by_age ON login_networks (seen_at);

-- Secrets sent to verify an address, as hashes; stored for a day, to count them. `address` is the e-mail address that
-- the right answer gives to the user, as it was written.
CREATE TABLE challenges (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    user_id INTEGER NOT NULL REFERENCES users (id),
    purpose TEXT NOT NULL CONSTRAINT challenges_purpose_check
        CHECK (purpose = 'email' OR purpose = 'phone' OR purpose = 'password' OR purpose = 'email_change'
            OR purpose = 'email_restore' OR purpose = 'email_restore_repeat' OR purpose = 'wallet_link'),
    target TEXT NOT NULL CONSTRAINT challenges_target_check CHECK (length(target) BETWEEN 1 AND 1024),
    hash BLOB NOT NULL CONSTRAINT challenges_hash_check CHECK (length(hash) = 32),
    issued_at INTEGER NOT NULL,
    attempts INTEGER NOT NULL CONSTRAINT challenges_attempts_check CHECK (attempts BETWEEN 0 AND 32767),
    ended_at INTEGER,
    address TEXT,
    CONSTRAINT challenges_address_check CHECK (
        (address IS NOT NULL) = (purpose IN ('email_change', 'email_restore'))
        AND length(address) BETWEEN 1 AND 1024
    )
) STRICT;

CREATE INDEX challenges_of_user ON challenges (user_id, purpose, id DESC);
CREATE INDEX challenges_to_target ON challenges (target, purpose, issued_at);
-- Only the newest of a purpose can be answered.
CREATE UNIQUE INDEX challenges_one_open ON challenges (user_id, purpose) WHERE ended_at IS NULL;
CREATE INDEX challenges_for_passwords ON challenges (hash) WHERE purpose = 'password';
CREATE INDEX challenges_for_restorations ON challenges (hash) WHERE purpose = 'email_restore';
CREATE INDEX challenges_by_age ON challenges (issued_at);
CREATE INDEX challenges_for_wallet_links ON challenges (hash) WHERE purpose = 'wallet_link';

-- Codes sent to phones within a day, to count them. Number and network are keyed hashes. No row names a user,
-- so that an erasure resets no count.
CREATE TABLE phone_codes (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    number BLOB NOT NULL CONSTRAINT phone_codes_number_check CHECK (length(number) = 32),
    network BLOB NOT NULL CONSTRAINT phone_codes_network_check CHECK (length(network) = 32),
    sent_at INTEGER NOT NULL
) STRICT;

CREATE INDEX phone_codes_to_number ON phone_codes (number, sent_at);
CREATE INDEX phone_codes_from_network ON phone_codes (network, sent_at);
CREATE INDEX phone_codes_by_age ON phone_codes (sent_at);

-- Guests blocked by DJs.
CREATE TABLE blocks (
    dj_id INTEGER NOT NULL REFERENCES users (id),
    guest_id INTEGER NOT NULL REFERENCES users (id),
    at INTEGER NOT NULL,
    PRIMARY KEY (dj_id, guest_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX blocks_of_dj ON blocks (dj_id, at DESC, guest_id DESC);
CREATE INDEX blocks_of_guest_newest ON blocks (guest_id, at DESC, dj_id DESC);

-- The security log; the domain defines the kinds of events.
CREATE TABLE security_events (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CONSTRAINT security_events_kind_check CHECK (length(kind) BETWEEN 1 AND 64),
    user_id INTEGER REFERENCES users (id),
    actor_id INTEGER REFERENCES users (id),
    -- No foreign key: sessions are purged before events.
    session_id INTEGER CONSTRAINT security_events_session_id_check CHECK (session_id > 0),
    address TEXT CONSTRAINT security_events_address_check CHECK (length(address) BETWEEN 2 AND 45),
    agent TEXT CONSTRAINT security_events_agent_check CHECK (length(agent) BETWEEN 1 AND 255),
    detail TEXT CONSTRAINT security_events_detail_check CHECK (length(detail) BETWEEN 1 AND 1024),
    at INTEGER NOT NULL
) STRICT;

CREATE INDEX security_events_about_user ON security_events (user_id, id DESC);
CREATE INDEX security_events_of_kind ON security_events (kind, id DESC);
CREATE INDEX security_events_by_age ON security_events (at);
CREATE INDEX security_events_of_actor ON security_events (actor_id) WHERE actor_id IS NOT NULL;

-- Signed messages of providers that contradict the ledger, stored until an operator resolves them. The domain
-- defines the reason codes.
CREATE TABLE provider_messages (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    source TEXT NOT NULL CONSTRAINT provider_messages_source_check CHECK (source IN ('topups', 'payouts')),
    webhook_id TEXT NOT NULL
        CONSTRAINT provider_messages_webhook_id_check CHECK (length(CAST(webhook_id AS BLOB)) BETWEEN 1 AND 255),
    kind TEXT NOT NULL CONSTRAINT provider_messages_kind_check CHECK (length(CAST(kind AS BLOB)) BETWEEN 1 AND 64),
    reason_code TEXT NOT NULL
        CONSTRAINT provider_messages_reason_code_check CHECK (length(CAST(reason_code AS BLOB)) BETWEEN 1 AND 64),
    reference TEXT NOT NULL
        CONSTRAINT provider_messages_reference_check CHECK (length(CAST(reference AS BLOB)) BETWEEN 1 AND 64),
    stated_id INTEGER,
    -- The id of a top-up or a withdrawal, depending on the source.
    row_id INTEGER CONSTRAINT provider_messages_row_id_check CHECK (row_id > 0),
    amount TEXT CONSTRAINT provider_messages_amount_check CHECK (length(CAST(amount AS BLOB)) <= 64),
    currency TEXT CONSTRAINT provider_messages_currency_check CHECK (length(CAST(currency AS BLOB)) <= 64),
    txid TEXT CONSTRAINT provider_messages_txid_check CHECK (length(CAST(txid AS BLOB)) <= 512),
    received_at INTEGER NOT NULL,
    resolved_at INTEGER,
    resolved_by INTEGER REFERENCES users (id),
    resolution TEXT CONSTRAINT provider_messages_resolution_check CHECK (length(resolution) BETWEEN 1 AND 255),
    CONSTRAINT provider_messages_one_per_webhook_id UNIQUE (source, webhook_id),
    CONSTRAINT provider_messages_are_resolved_as_a_whole CHECK (
        (resolved_at IS NULL) = (resolved_by IS NULL) AND (resolved_at IS NULL) = (resolution IS NULL)
    ),
    CONSTRAINT provider_messages_are_resolved_after_they_come CHECK (resolved_at >= received_at)
) STRICT;

CREATE INDEX provider_messages_unresolved_first ON provider_messages ((resolved_at IS NULL) DESC, id DESC);
CREATE INDEX provider_messages_about_rows ON provider_messages (source, row_id);
CREATE INDEX provider_messages_resolved_by ON provider_messages (resolved_by) WHERE resolved_by IS NOT NULL;

-- URLs to which the events of a feed are sent, up to the position `cursor` and within the range of a replay. A
-- server delivers to an endpoint under a numbered lease. The secrets are encrypted, one per line. `attempts` is
-- the number of the newest attempt.
CREATE TABLE webhook_endpoints (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    owner_id INTEGER NOT NULL REFERENCES users (id),
    feed TEXT NOT NULL CONSTRAINT webhook_endpoints_feed_check CHECK (feed IN ('own', 'all')),
    url TEXT NOT NULL
        CONSTRAINT webhook_endpoints_url_check CHECK (length(CAST(url AS BLOB)) BETWEEN 1 AND 2048),
    -- The types of events, separated by commas; null for all.
    types TEXT CONSTRAINT webhook_endpoints_types_check CHECK (length(types) <= 4096),
    description TEXT CONSTRAINT webhook_endpoints_description_check CHECK (length(description) BETWEEN 1 AND 255),
    state TEXT NOT NULL
        CONSTRAINT webhook_endpoints_state_check CHECK (state = 'active' OR state = 'paused' OR state = 'disabled'),
    disabled_at INTEGER,
    disabled_reason TEXT
        CONSTRAINT webhook_endpoints_disabled_reason_check CHECK (length(disabled_reason) BETWEEN 1 AND 64),
    secrets TEXT NOT NULL CONSTRAINT webhook_endpoints_secrets_check CHECK (length(secrets) BETWEEN 1 AND 8192),
    cursor INTEGER NOT NULL CONSTRAINT webhook_endpoints_cursor_check CHECK (cursor >= 0),
    replay_after INTEGER CONSTRAINT webhook_endpoints_replay_after_check CHECK (replay_after >= 0),
    replay_until INTEGER,
    failing_since INTEGER,
    created_at INTEGER NOT NULL,
    lease INTEGER NOT NULL DEFAULT 0 CONSTRAINT webhook_endpoints_lease_check CHECK (lease >= 0),
    leased_until INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0 CONSTRAINT webhook_endpoints_attempts_check CHECK (attempts >= 0),
    -- The session that set the URL, and the idempotency key of the creation: the hash of its scope and a keyed hash of
    -- the body without the password.
    url_session_id INTEGER,
    creation_key BLOB
        CONSTRAINT webhook_endpoints_creation_key_check CHECK (length(creation_key) = 32),
    creation_body BLOB
        CONSTRAINT webhook_endpoints_creation_body_check CHECK (length(creation_body) = 32)
        CONSTRAINT webhook_endpoints_creation_has_both CHECK ((creation_key IS NULL) = (creation_body IS NULL)),
    CONSTRAINT webhook_endpoints_are_disabled_for_a_reason CHECK (
        (state = 'disabled') = (disabled_at IS NOT NULL) AND (state = 'disabled') = (disabled_reason IS NOT NULL)
    ),
    CONSTRAINT webhook_endpoints_replay_is_a_range CHECK (
        (replay_after IS NULL) = (replay_until IS NULL) AND (replay_after IS NULL OR replay_after <= replay_until)
    )
) STRICT;

CREATE INDEX webhook_endpoints_of_owner ON webhook_endpoints (owner_id, id DESC);
CREATE INDEX webhook_endpoints_of_feed ON webhook_endpoints (feed, id DESC);
-- The search for work: the endpoints without a turn for the longest time come first.
CREATE INDEX webhook_endpoints_by_turn ON webhook_endpoints (state, leased_until, id);
CREATE UNIQUE INDEX webhook_endpoints_creation_key_key ON webhook_endpoints (creation_key)
    WHERE creation_key IS NOT NULL;

-- Deliveries that failed, until they succeed. Without a next attempt they were given up.
CREATE TABLE webhook_deliveries (
    endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    position INTEGER NOT NULL CONSTRAINT webhook_deliveries_position_check CHECK (position > 0),
    attempts INTEGER NOT NULL CONSTRAINT webhook_deliveries_attempts_check CHECK (attempts BETWEEN 0 AND 2147483647),
    next_at INTEGER,
    failed_at INTEGER NOT NULL,
    PRIMARY KEY (endpoint_id, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_at, position) WHERE next_at IS NOT NULL;
-- The oldest delivery that waits for an endpoint.
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (endpoint_id, failed_at) WHERE next_at IS NOT NULL;

-- The newest attempts of each endpoint. A test has no event.
CREATE TABLE webhook_attempts (
    endpoint_id INTEGER NOT NULL REFERENCES webhook_endpoints (id) ON DELETE CASCADE,
    number INTEGER NOT NULL CONSTRAINT webhook_attempts_number_check CHECK (number > 0),
    position INTEGER CONSTRAINT webhook_attempts_position_check CHECK (position > 0),
    event_type TEXT CONSTRAINT webhook_attempts_event_type_check CHECK (length(event_type) BETWEEN 1 AND 64),
    attempt INTEGER NOT NULL CONSTRAINT webhook_attempts_attempt_check CHECK (attempt BETWEEN 1 AND 2147483647),
    status INTEGER CONSTRAINT webhook_attempts_status_check CHECK (status BETWEEN 100 AND 999),
    error TEXT CONSTRAINT webhook_attempts_error_check CHECK (length(error) BETWEEN 1 AND 64),
    milliseconds INTEGER NOT NULL
        CONSTRAINT webhook_attempts_milliseconds_check CHECK (milliseconds BETWEEN 0 AND 2147483647),
    answer TEXT CONSTRAINT webhook_attempts_answer_check CHECK (length(CAST(answer AS BLOB)) <= 1024),
    at INTEGER NOT NULL,
    PRIMARY KEY (endpoint_id, number),
    CONSTRAINT webhook_attempts_have_one_outcome CHECK ((status IS NULL) <> (error IS NULL)),
    CONSTRAINT webhook_attempts_of_events_have_both CHECK ((position IS NULL) = (event_type IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TRIGGER operations_are_never_deleted BEFORE DELETE ON operations
BEGIN
    SELECT RAISE(ABORT, 'operations_are_never_deleted: rows of operations are append-only');
END;

CREATE TRIGGER ledger_entries_are_never_changed BEFORE UPDATE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'ledger_entries_are_never_changed: rows of ledger_entries are append-only');
END;

CREATE TRIGGER ledger_entries_are_never_deleted BEFORE DELETE ON ledger_entries
BEGIN
    SELECT RAISE(ABORT, 'ledger_entries_are_never_deleted: rows of ledger_entries are append-only');
END;

CREATE TRIGGER postings_are_never_changed BEFORE UPDATE ON postings
BEGIN
    SELECT RAISE(ABORT, 'postings_are_never_changed: rows of postings are append-only');
END;

CREATE TRIGGER postings_are_never_deleted BEFORE DELETE ON postings
BEGIN
    SELECT RAISE(ABORT, 'postings_are_never_deleted: rows of postings are append-only');
END;

CREATE TRIGGER security_events_are_never_changed BEFORE UPDATE ON security_events
BEGIN
    SELECT RAISE(ABORT, 'security_events_are_never_changed: rows of security_events are append-only');
END;

CREATE TRIGGER security_events_kept_for_a_year BEFORE DELETE ON security_events
    WHEN OLD.at > (unixepoch() - 365 * 86400) * 1000000
BEGIN
    SELECT RAISE(ABORT, 'security_events_kept_for_a_year: rows of security_events are append-only');
END;

CREATE TRIGGER provider_messages_are_kept BEFORE DELETE ON provider_messages
BEGIN
    SELECT RAISE(ABORT, 'provider_messages_are_kept: rows of provider_messages are append-only');
END;

CREATE TRIGGER provider_messages_are_resolved_once BEFORE UPDATE ON provider_messages
    WHEN OLD.resolved_at IS NOT NULL
BEGIN
    SELECT RAISE(ABORT, 'provider_messages_are_resolved_once: rows of provider_messages are append-only');
END;

-- The profile in a receipt is replaced by its user's id once its retention is over or the user is erased.
-- Nothing else of an operation changes.
CREATE TRIGGER operations_are_never_changed BEFORE UPDATE ON operations
    WHEN (NEW.id, NEW.kind, NEW.at) IS NOT (OLD.id, OLD.kind, OLD.at)
        OR (NEW.position, NEW.owner_id, NEW.dj_id) IS NOT (OLD.position, OLD.owner_id, OLD.dj_id)
        OR (NEW.actor_user_id, NEW.reason, NEW.posting_rules) IS NOT (OLD.actor_user_id, OLD.reason, OLD.posting_rules)
        OR NEW.receipt IS NOT OLD.receipt AND (
            json_type(OLD.receipt, '$.profile.user.id') IS NULL
            OR NEW.receipt IS NOT json_object(
                'profile', json_object('user', json_object('id', json_extract(OLD.receipt, '$.profile.user.id')))
            )
        )
BEGIN
    SELECT RAISE(ABORT, 'operations_are_never_changed: rows of operations are append-only');
END;

CREATE TRIGGER users_are_kept_unless_unused_guests BEFORE DELETE ON users
WHEN OLD.role <> 'guest' OR OLD.erased_at IS NOT NULL
    OR EXISTS (SELECT 1 FROM operations WHERE owner_id = OLD.id) BEGIN
    SELECT RAISE(ABORT, 'users_are_kept: only unused guest accounts are deleted');
END;
