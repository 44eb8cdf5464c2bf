-- Both waits together stay below the limit of plans, which queue behind them.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE;
DROP TRIGGER wallets_are_kept_unless_unused ON wallets;
DROP TRIGGER wallets_are_kept ON wallets;
DROP FUNCTION refuse_removal_of_used_wallet();
DROP TRIGGER withdrawals_keep_their_user ON withdrawals;
DROP TRIGGER withdrawals_belong_to_wallets ON withdrawals;
DROP FUNCTION check_wallets_of_withdrawals();
ALTER TABLE withdrawals
    ADD CONSTRAINT withdrawals_user_id_fkey FOREIGN KEY (user_id) REFERENCES wallets;
