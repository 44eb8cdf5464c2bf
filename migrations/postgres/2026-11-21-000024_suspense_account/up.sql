-- Money that arrives for accounts that were erased, in a migration of its own, which locks one table.
ALTER TABLE postings
    DROP CONSTRAINT postings_account_check,
    ADD CONSTRAINT postings_account_check CHECK (
        account IN (
            'platform_commission', 'outside_topups', 'outside_payouts', 'outside_adjustments', 'outside_suspense'
        )
    ) NOT VALID;
