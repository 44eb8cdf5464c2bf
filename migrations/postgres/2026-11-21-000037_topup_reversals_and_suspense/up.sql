-- Top-ups whose payers took the money back, and money that came for a failed top-up after its owner was erased: the
-- operation that booked it, and the one by which an operator took it out of suspense.
ALTER TABLE topups
    DROP CONSTRAINT topups_status_check,
    ADD CONSTRAINT topups_status_check CHECK (status IN ('pending', 'confirmed', 'failed', 'reversed')) NOT VALID,
    ADD COLUMN suspense_operation uuid,
    ADD COLUMN suspense_at timestamptz,
    ADD COLUMN settled_operation uuid,
    ADD COLUMN settled_at timestamptz,
    ADD COLUMN settled_by bigint,
    ADD COLUMN settled_reason text,
    -- A foreign key would lock people as well; the operation that settled it has one to its actor.
    ADD CONSTRAINT topups_settled_by_check CHECK (settled_by > 0) NOT VALID,
    ADD CONSTRAINT topups_settled_reason_check CHECK (char_length(settled_reason) BETWEEN 1 AND 255) NOT VALID,
    ADD CONSTRAINT topups_suspended_have_failed CHECK (
        num_nonnulls(suspense_operation, suspense_at) = 0
        OR num_nonnulls(suspense_operation, suspense_at) = 2 AND status = 'failed'
    ) NOT VALID,
    ADD CONSTRAINT topups_settled_were_suspended CHECK (
        num_nonnulls(settled_operation, settled_at, settled_by, settled_reason) = 0
        OR num_nonnulls(settled_operation, settled_at, settled_by, settled_reason) = 4
            AND suspense_operation IS NOT NULL AND settled_at >= suspense_at
    ) NOT VALID;
