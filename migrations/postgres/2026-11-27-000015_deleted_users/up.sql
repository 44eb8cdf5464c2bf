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
