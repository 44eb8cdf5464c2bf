-- Fails where there are such entries, which are never deleted.
ALTER TABLE ledger_entries
    DROP CONSTRAINT ledger_entries_kind_check,
    ADD CONSTRAINT ledger_entries_kind_check CHECK (
        kind IN (
            'topup', 'hold', 'release', 'capture', 'earning', 'refund', 'reversal', 'adjustment', 'chargeback'
        )
    ),
    DROP CONSTRAINT ledger_entries_reference_kind_check,
    ADD CONSTRAINT ledger_entries_reference_kind_check
        CHECK (reference_kind IN ('music_request', 'withdrawal', 'topup', 'adjustment'));
