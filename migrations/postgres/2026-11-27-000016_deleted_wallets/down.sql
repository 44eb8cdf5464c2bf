DROP TRIGGER wallets_are_kept_unless_unused ON wallets;
DROP TRIGGER wallets_are_kept ON wallets;
CREATE TRIGGER wallets_are_kept BEFORE DELETE OR TRUNCATE OR UPDATE OF user_id ON wallets
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
DROP FUNCTION refuse_removal_of_used_wallet();
