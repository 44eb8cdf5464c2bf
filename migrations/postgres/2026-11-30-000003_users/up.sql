-- `login_changed_at` is the time of the last change of the e-mail address or reset of the password. Guest accounts are
-- users without a login.
ALTER TABLE users
    ADD COLUMN login_changed_at timestamptz,
    DROP CONSTRAINT users_role_check,
    ADD CONSTRAINT users_role_check CHECK (role IN ('member', 'operator', 'auditor', 'guest')) NOT VALID,
    ADD CONSTRAINT users_guests_have_no_login CHECK (
        role <> 'guest' OR erased_at IS NOT NULL
        OR password_hash = '!' AND email_folded = 'guest-' || id AND NOT email_verified AND NOT phone_verified
            AND num_nonnulls(phone, city, state, country, latitude, longitude, radius) = 0 AND NOT is_dj
    ) NOT VALID;

-- Refuses to delete a row, or to change the user of a row.
CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never deleted, and the user of a row is never changed', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$;

-- Only guest accounts that were never used are deleted, with their wallets. A deletion locks the user first, and its
-- triggers then see every operation and entry that a plan has added.
CREATE FUNCTION refuse_removal_of_used_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.role <> 'guest' OR OLD.erased_at IS NOT NULL
        OR EXISTS (SELECT FROM public.operations WHERE owner_id = OLD.id)
    THEN
        RAISE EXCEPTION 'only unused guest accounts are deleted'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'users_are_kept';
    END IF;
    RETURN OLD;
END
$$;
CREATE TRIGGER users_are_kept_unless_unused_guests BEFORE DELETE ON users
    FOR EACH ROW EXECUTE FUNCTION refuse_removal_of_used_user();
CREATE TRIGGER users_are_kept BEFORE TRUNCATE OR UPDATE OF id ON users
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
