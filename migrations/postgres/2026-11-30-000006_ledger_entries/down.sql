-- Both waits together stay below the limit of plans, which queue behind them.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE wallets IN ACCESS EXCLUSIVE MODE;
DROP TRIGGER ledger_entries_belong_to_wallets ON ledger_entries;
DROP FUNCTION check_wallets_of_ledger_entries();
-- Fails where there are entries of tips, which are never deleted.
ALTER TABLE ledger_entries
    DROP CONSTRAINT ledger_entries_kind_check,
    ADD CONSTRAINT ledger_entries_kind_check CHECK (
        kind IN (
            'topup', 'hold', 'release', 'capture', 'earning', 'refund', 'reversal', 'adjustment', 'chargeback'
        )
    ),
    DROP CONSTRAINT ledger_entries_reference_kind_check,
    ADD CONSTRAINT ledger_entries_reference_kind_check
        CHECK (reference_kind IN ('music_request', 'withdrawal', 'topup', 'adjustment')),
    ALTER CONSTRAINT ledger_entries_operation_id_fkey NOT DEFERRABLE,
    ADD CONSTRAINT ledger_entries_wallet_id_fkey FOREIGN KEY (wallet_id) REFERENCES wallets;
