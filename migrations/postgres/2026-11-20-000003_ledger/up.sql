-- Every atomic change there ever was, with what it came to.
CREATE TABLE operations (
    id uuid PRIMARY KEY,
    kind text NOT NULL CHECK (char_length(kind) BETWEEN 1 AND 64),
    actor_user_id bigint REFERENCES users,
    reason text CHECK (char_length(reason) BETWEEN 1 AND 255),
    at timestamptz NOT NULL,
    receipt jsonb NOT NULL CHECK (jsonb_typeof(receipt) = 'object')
);

-- Clients' keys, kept for seven days; the answer is the operation's.
CREATE TABLE idempotency_keys (
    scope bytea PRIMARY KEY CHECK (octet_length(scope) = 32),
    fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
    operation_id uuid NOT NULL REFERENCES operations,
    at timestamptz NOT NULL
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (at);

-- The chain of each wallet: what every operation changed in it, and what was in it afterwards.
CREATE TABLE ledger_entries (
    wallet_id bigint NOT NULL REFERENCES wallets,
    seq bigint NOT NULL CHECK (seq > 0),
    operation_id uuid NOT NULL REFERENCES operations,
    kind text NOT NULL CHECK (
        kind IN ('topup', 'hold', 'release', 'capture', 'earning', 'refund', 'reversal', 'adjustment')
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

-- What reached or left the house and the world; their balances are the sums.
CREATE TABLE postings (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    operation_id uuid NOT NULL REFERENCES operations,
    account text NOT NULL CHECK (
        account IN ('platform_commission', 'outside_topups', 'outside_payouts', 'outside_adjustments')
    ),
    amount money_sum NOT NULL CHECK (amount <> 0),
    at timestamptz NOT NULL
);
CREATE INDEX postings_of_operation ON postings (operation_id);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never changed or deleted', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER ledger_entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER postings_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON postings
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
