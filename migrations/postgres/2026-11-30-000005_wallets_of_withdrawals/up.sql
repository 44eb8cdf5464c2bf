-- The wallets of new withdrawals are checked once per statement: a foreign key checks them once per row. Dropping the key
-- locks both tables, and plans lock wallets first.
-- Both waits together stay below the limit of plans, which queue behind them.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE;
ALTER TABLE withdrawals DROP CONSTRAINT withdrawals_user_id_fkey;

CREATE FUNCTION check_wallets_of_withdrawals() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(DISTINCT user_id) FROM added) <> (
        SELECT count(*)
        FROM (SELECT FROM public.wallets WHERE user_id = ANY (ARRAY(SELECT user_id FROM added)) FOR KEY SHARE) AS locked
    ) THEN
        RAISE EXCEPTION 'a row of % belongs to no wallet', TG_TABLE_NAME
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'withdrawals_user_id_fkey';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER withdrawals_belong_to_wallets AFTER INSERT ON withdrawals
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_wallets_of_withdrawals();
CREATE TRIGGER withdrawals_keep_their_user BEFORE UPDATE OF user_id ON withdrawals
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();

-- A wallet keeps its owner, and is deleted with its unused guest account alone, so that a row's wallet needs a check only
-- when the row is added.
CREATE FUNCTION refuse_removal_of_used_wallet() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM public.ledger_entries WHERE wallet_id = OLD.user_id)
        OR EXISTS (SELECT FROM public.withdrawals WHERE user_id = OLD.user_id)
    THEN
        RAISE EXCEPTION 'only unused wallets are deleted'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'wallets_are_kept';
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER wallets_are_kept BEFORE TRUNCATE OR UPDATE OF user_id ON wallets
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER wallets_are_kept_unless_unused BEFORE DELETE ON wallets
    FOR EACH ROW EXECUTE FUNCTION refuse_removal_of_used_wallet();
