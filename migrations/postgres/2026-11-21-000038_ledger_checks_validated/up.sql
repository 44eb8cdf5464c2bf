-- Reads the tables without keeping anybody from writing to them.
ALTER TABLE ledger_entries VALIDATE CONSTRAINT ledger_entries_kind_check;
ALTER TABLE postings VALIDATE CONSTRAINT postings_account_check;
ALTER TABLE operations VALIDATE CONSTRAINT operations_posting_rules_check;
ALTER TABLE topups
    VALIDATE CONSTRAINT topups_status_check,
    VALIDATE CONSTRAINT topups_settled_by_check,
    VALIDATE CONSTRAINT topups_settled_reason_check,
    VALIDATE CONSTRAINT topups_suspended_have_failed,
    VALIDATE CONSTRAINT topups_settled_were_suspended;
