-- A sum of money; PostgreSQL would take "not a number" for one that is larger than every other.
CREATE DOMAIN money_sum AS numeric(28, 8) CHECK (VALUE <> 'NaN');

-- The currency that every sum in this database is in; one row, written at the first start.
CREATE TABLE deployment (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    currency text NOT NULL CHECK (currency ~ '^[A-Z0-9]{3,12}$'),
    scale smallint NOT NULL CHECK (scale BETWEEN 0 AND 8),
    created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE users (
    id bigint PRIMARY KEY CHECK (id > 0),
    name text NOT NULL CHECK (char_length(name) BETWEEN 1 AND 255),
    email text NOT NULL CHECK (char_length(email) BETWEEN 1 AND 255),
    email_folded text NOT NULL CHECK (char_length(email_folded) BETWEEN 1 AND 1024),
    email_verified boolean NOT NULL,
    phone text CHECK (char_length(phone) BETWEEN 1 AND 255),
    phone_verified boolean NOT NULL,
    password_hash text NOT NULL CHECK (char_length(password_hash) BETWEEN 1 AND 1024),
    role text NOT NULL CHECK (role IN ('member', 'operator')),
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
    CONSTRAINT users_email_folded_key UNIQUE (email_folded),
    CONSTRAINT users_email_folded_is_lower CHECK (email_folded COLLATE "C" !~ '[A-Z]'),
    CONSTRAINT users_place_is_whole CHECK ((latitude IS NULL) = (longitude IS NULL)),
    CONSTRAINT users_stars_fit_count CHECK (rating_stars BETWEEN rating_count AND 5 * rating_count),
    CONSTRAINT users_only_djs_have_prices CHECK (
        is_dj
        OR NOT online AND fee_upcoming_artist = 0 AND fee_popular_song = 0 AND played = 0 AND rating_count = 0
    )
);
CREATE INDEX users_djs ON users (created_at DESC, id DESC) WHERE is_dj;

-- The present balances, each equal to those after the wallet's newest entry.
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

-- Each server takes 32 numbers at once and hands them out from memory.
CREATE SEQUENCE user_ids AS bigint INCREMENT BY 32;
