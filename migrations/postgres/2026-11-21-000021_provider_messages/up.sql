-- Signed messages of providers that contradict the ledger, kept until an operator resolves them. Which reason codes there
-- are is the domain's to say. The texts of one row have at most 1 KiB.
CREATE TABLE provider_messages (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source text NOT NULL CHECK (source IN ('topups', 'payouts')),
    webhook_id text NOT NULL CHECK (octet_length(webhook_id) BETWEEN 1 AND 255),
    kind text NOT NULL CHECK (octet_length(kind) BETWEEN 1 AND 64),
    reason_code text NOT NULL CHECK (octet_length(reason_code) BETWEEN 1 AND 64),
    reference text NOT NULL CHECK (octet_length(reference) BETWEEN 1 AND 64),
    stated_id bigint,
    -- The id of a top-up or a withdrawal, by the source.
    row_id bigint CHECK (row_id > 0),
    amount text CHECK (octet_length(amount) <= 64),
    currency text CHECK (octet_length(currency) <= 64),
    txid text CHECK (octet_length(txid) <= 512),
    received_at timestamptz NOT NULL,
    resolved_at timestamptz,
    resolved_by bigint REFERENCES users,
    resolution text CHECK (char_length(resolution) BETWEEN 1 AND 255),
    CONSTRAINT provider_messages_one_per_webhook_id UNIQUE (source, webhook_id),
    CONSTRAINT provider_messages_are_resolved_as_a_whole
        CHECK (num_nulls(resolved_at, resolved_by, resolution) IN (0, 3)),
    CONSTRAINT provider_messages_are_resolved_after_they_come CHECK (resolved_at >= received_at)
);
-- The order of the list, and what is unresolved.
CREATE INDEX provider_messages_unresolved_first ON provider_messages ((resolved_at IS NULL) DESC, id DESC);

CREATE TRIGGER provider_messages_are_kept BEFORE DELETE OR TRUNCATE ON provider_messages
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER provider_messages_are_resolved_once BEFORE UPDATE ON provider_messages
    FOR EACH ROW WHEN (OLD.resolved_at IS NOT NULL) EXECUTE FUNCTION refuse_change();
