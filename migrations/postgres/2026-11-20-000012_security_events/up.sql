-- The security log. What kinds of events there are is the domain's to say.
CREATE TABLE security_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    kind text NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 64),
    user_id bigint REFERENCES users,
    actor_id bigint REFERENCES users,
    -- Sessions are not kept as long as events are.
    session_id bigint CHECK (session_id > 0),
    address text CHECK (char_length(address) BETWEEN 2 AND 45),
    agent text CHECK (char_length(agent) BETWEEN 1 AND 255),
    detail text CHECK (char_length(detail) BETWEEN 1 AND 1024),
    at timestamptz NOT NULL
);
CREATE INDEX security_events_about_user ON security_events (user_id, id DESC);
CREATE INDEX security_events_of_kind ON security_events (kind, id DESC);
CREATE INDEX security_events_by_age ON security_events (at);

CREATE TRIGGER security_events_append_only BEFORE UPDATE OR TRUNCATE ON security_events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER security_events_kept_for_a_year BEFORE DELETE ON security_events
    FOR EACH ROW WHEN (OLD.at > now() - interval '365 days') EXECUTE FUNCTION refuse_change();
