-- Fails where there are such postings, which are never deleted.
ALTER TABLE postings
    DROP CONSTRAINT postings_account_check,
    ADD CONSTRAINT postings_account_check CHECK (
        account IN ('platform_commission', 'outside_topups', 'outside_payouts', 'outside_adjustments')
    );
