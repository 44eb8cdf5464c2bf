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
    state TEXT NOT NULL CONSTRAINT webhook_endpoints_state_check CHECK (state IN ('active', 'paused', 'disabled')),
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
CREATE INDEX webhook_deliveries_oldest ON webhook_deliveries (failed_at, endpoint_id) WHERE next_at IS NOT NULL;

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
