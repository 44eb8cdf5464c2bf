-- Entries of top-ups whose payers took the money back. The next migrations check the rows that are there.
ALTER TABLE ledger_entries
    DROP CONSTRAINT ledger_entries_kind_check,
    ADD CONSTRAINT ledger_entries_kind_check CHECK (
        kind IN (
            'topup', 'hold', 'release', 'capture', 'earning', 'refund', 'reversal', 'adjustment', 'chargeback'
        )
    ) NOT VALID;
