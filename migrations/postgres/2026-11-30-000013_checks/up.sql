-- Reads the tables without keeping anybody from writing to them. The largest ones come last, so that a wait for a lock
-- repeats little.
ALTER TABLE sessions VALIDATE CONSTRAINT sessions_cookie_hash_check;
ALTER TABLE topups VALIDATE CONSTRAINT topups_page_code_check;
ALTER TABLE challenges
    VALIDATE CONSTRAINT challenges_purpose_check,
    VALIDATE CONSTRAINT challenges_address_check;
ALTER TABLE users VALIDATE CONSTRAINT users_role_check, VALIDATE CONSTRAINT users_guests_have_no_login;
ALTER TABLE music_requests VALIDATE CONSTRAINT music_requests_displaced_check;
ALTER TABLE ledger_entries
    VALIDATE CONSTRAINT ledger_entries_kind_check,
    VALIDATE CONSTRAINT ledger_entries_reference_kind_check;
ALTER TABLE operations VALIDATE CONSTRAINT operations_position_check;
