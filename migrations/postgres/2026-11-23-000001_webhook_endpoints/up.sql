-- URLs to which the events of a feed are sent, up to the position `cursor` and within the range of a replay. A
-- server delivers to an endpoint under a numbered lease. The secrets are encrypted, one per line. `attempts` is
-- the number of the newest attempt.
CREATE TABLE webhook_endpoints (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    owner_id bigint NOT NULL REFERENCES users,
    feed text NOT NULL CHECK (feed IN ('own', 'all')),
    url text NOT NULL CHECK (octet_length(url) BETWEEN 1 AND 2048),
    -- The types of events, separated by commas; null for all.
    types text CHECK (char_length(types) <= 4096),
    description text CHECK (char_length(description) BETWEEN 1 AND 255),
    state text NOT NULL CHECK (state IN ('active', 'paused', 'disabled')),
    disabled_at timestamptz,
    disabled_reason text CHECK (char_length(disabled_reason) BETWEEN 1 AND 64),
    secrets text NOT NULL CHECK (char_length(secrets) BETWEEN 1 AND 8192),
    cursor bigint NOT NULL CHECK (cursor >= 0),
    replay_after bigint CHECK (replay_after >= 0),
    replay_until bigint,
    failing_since timestamptz,
    created_at timestamptz NOT NULL,
    lease bigint NOT NULL DEFAULT 0 CHECK (lease >= 0),
    leased_until timestamptz,
    attempts bigint NOT NULL DEFAULT 0 CHECK (attempts >= 0),
    CONSTRAINT webhook_endpoints_are_disabled_for_a_reason
        CHECK (num_nonnulls(disabled_at, disabled_reason) = CASE state WHEN 'disabled' THEN 2 ELSE 0 END),
    CONSTRAINT webhook_endpoints_replay_is_a_range
        CHECK (num_nulls(replay_after, replay_until) IN (0, 2) AND replay_after <= replay_until)
);
CREATE INDEX webhook_endpoints_of_owner ON webhook_endpoints (owner_id, id DESC);
CREATE INDEX webhook_endpoints_of_feed ON webhook_endpoints (feed, id DESC);
-- The search for work: the endpoints without a turn for the longest time come first.
CREATE INDEX webhook_endpoints_by_turn ON webhook_endpoints (state, leased_until NULLS FIRST, id);

-- Deliveries that failed, until they succeed. Without a next attempt they were given up.
CREATE TABLE webhook_deliveries (
    endpoint_id bigint NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
    position bigint NOT NULL CHECK (position > 0),
    attempts integer NOT NULL CHECK (attempts >= 0),
    next_at timestamptz,
    failed_at timestamptz NOT NULL,
    PRIMARY KEY (endpoint_id, position)
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (endpoint_id, next_at, position) WHERE next_at IS NOT NULL;
CREATE INDEX webhook_deliveries_oldest ON webhook_deliveries (failed_at, endpoint_id) WHERE next_at IS NOT NULL;

-- The newest attempts of each endpoint. A test has no event.
CREATE TABLE webhook_attempts (
    endpoint_id bigint NOT NULL REFERENCES webhook_endpoints ON DELETE CASCADE,
    number bigint NOT NULL CHECK (number > 0),
    position bigint CHECK (position > 0),
    event_type text CHECK (char_length(event_type) BETWEEN 1 AND 64),
    attempt integer NOT NULL CHECK (attempt >= 1),
    status integer CHECK (status BETWEEN 100 AND 999),
    error text CHECK (char_length(error) BETWEEN 1 AND 64),
    milliseconds integer NOT NULL CHECK (milliseconds >= 0),
    answer text CHECK (octet_length(answer) <= 1024),
    at timestamptz NOT NULL,
    PRIMARY KEY (endpoint_id, number),
    CONSTRAINT webhook_attempts_have_one_outcome CHECK (num_nulls(status, error) = 1),
    CONSTRAINT webhook_attempts_of_events_have_both CHECK (num_nulls(position, event_type) IN (0, 2))
);
