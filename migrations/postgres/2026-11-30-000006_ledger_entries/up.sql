-- The wallets of new entries are checked once per statement: a foreign key checks them once per row. Dropping the key
-- locks both tables, and plans lock wallets first.
-- Both waits together stay below the limit of plans, which queue behind them.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE;
-- Tips have entries. The foreign key is deferred, because an operation is added after the rows that refer to it.
ALTER TABLE ledger_entries
    DROP CONSTRAINT ledger_entries_wallet_id_fkey,
    ALTER CONSTRAINT ledger_entries_operation_id_fkey DEFERRABLE INITIALLY DEFERRED,
    DROP CONSTRAINT ledger_entries_kind_check,
    ADD CONSTRAINT ledger_entries_kind_check CHECK (
        kind IN (
            'topup', 'hold', 'release', 'capture', 'earning', 'refund', 'reversal', 'adjustment', 'chargeback', 'tip'
        )
    ) NOT VALID,
    DROP CONSTRAINT ledger_entries_reference_kind_check,
    ADD CONSTRAINT ledger_entries_reference_kind_check
        CHECK (reference_kind IN ('music_request', 'withdrawal', 'topup', 'adjustment', 'tip')) NOT VALID;

CREATE FUNCTION check_wallets_of_ledger_entries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(DISTINCT wallet_id) FROM added) <> (
        SELECT count(*)
        FROM (SELECT FROM public.wallets WHERE user_id = ANY (ARRAY(SELECT wallet_id FROM added)) FOR KEY SHARE) AS locked
    ) THEN
        RAISE EXCEPTION 'a row of % belongs to no wallet', TG_TABLE_NAME
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'ledger_entries_wallet_id_fkey';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER ledger_entries_belong_to_wallets AFTER INSERT ON ledger_entries
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_wallets_of_ledger_entries();
