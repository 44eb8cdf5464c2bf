-- A wallet is never deleted and keeps its owner, so that a row's wallet needs a check only when the row is added.
CREATE FUNCTION refuse_removal() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of % are never deleted, and the user of a row is never changed', TG_TABLE_NAME
        USING ERRCODE = 'restrict_violation';
END
$$;
CREATE TRIGGER wallets_are_kept BEFORE DELETE OR TRUNCATE OR UPDATE OF user_id ON wallets
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal();
