DROP TRIGGER wallets_are_kept ON wallets;
DROP FUNCTION refuse_removal();
