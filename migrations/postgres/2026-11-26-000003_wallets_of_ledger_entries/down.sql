-- Both waits together stay below the limit of plans, which queue behind them.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE;
DROP TRIGGER ledger_entries_belong_to_wallets ON ledger_entries;
DROP FUNCTION check_wallets_of_ledger_entries();
ALTER TABLE ledger_entries
    ADD CONSTRAINT ledger_entries_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets;
