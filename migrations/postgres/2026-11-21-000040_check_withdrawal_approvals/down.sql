-- A check cannot be made unchecked again: dropped and added, as the migration that made it did.
ALTER TABLE withdrawals
    DROP CONSTRAINT withdrawals_approvals_have_times,
    DROP CONSTRAINT withdrawals_second_approval_follows_first,
    DROP CONSTRAINT withdrawals_approved_by_two_others,
    DROP CONSTRAINT withdrawals_pending_have_one_approval,
    ADD CONSTRAINT withdrawals_approvals_have_times CHECK (
        (approved_by IS NULL) = (approved_at IS NULL)
        AND (second_approved_by IS NULL) = (second_approved_at IS NULL)
    ) NOT VALID,
    ADD CONSTRAINT withdrawals_second_approval_follows_first
        CHECK (second_approved_by IS NULL OR approved_by IS NOT NULL) NOT VALID,
    ADD CONSTRAINT withdrawals_approved_by_two_others CHECK (
        approved_by <> user_id AND second_approved_by <> user_id AND second_approved_by <> approved_by
    ) NOT VALID,
    ADD CONSTRAINT withdrawals_pending_have_one_approval
        CHECK (status <> 'pending' OR second_approved_by IS NULL) NOT VALID;
