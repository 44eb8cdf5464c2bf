-- The operators who approved a withdrawal, in their order, and when. Null for withdrawals that need none, and for
-- those that earlier versions approve.
ALTER TABLE withdrawals
    ADD COLUMN approved_by bigint,
    ADD COLUMN approved_at timestamptz,
    ADD COLUMN second_approved_by bigint,
    ADD COLUMN second_approved_at timestamptz,
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
