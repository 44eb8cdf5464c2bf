-- Entries of tips. The next migration checks the rows that are there.
ALTER TABLE ledger_entries
    DROP CONSTRAINT ledger_entries_kind_check,
    ADD CONSTRAINT ledger_entries_kind_check CHECK (
        kind IN (
            'topup', 'hold', 'release', 'capture', 'earning', 'refund', 'reversal', 'adjustment', 'chargeback', 'tip'
        )
    ) NOT VALID,
    DROP CONSTRAINT ledger_entries_reference_kind_check,
    ADD CONSTRAINT ledger_entries_reference_kind_check
        CHECK (reference_kind IN ('music_request', 'withdrawal', 'topup', 'adjustment', 'tip')) NOT VALID;
