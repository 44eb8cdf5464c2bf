-- The wallets of deleted guest accounts are deleted with them.
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
DROP TRIGGER wallets_are_kept ON wallets;
CREATE TRIGGER wallets_are_kept BEFORE TRUNCATE OR UPDATE OF user_id ON wallets
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
CREATE TRIGGER wallets_are_kept_unless_unused BEFORE DELETE ON wallets
    FOR EACH ROW EXECUTE FUNCTION refuse_removal_of_used_wallet();
