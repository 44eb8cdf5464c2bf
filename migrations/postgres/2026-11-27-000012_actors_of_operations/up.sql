-- The actors of new operations are checked once per statement. With a foreign key, PostgreSQL would read all operations
-- for each deleted user. Dropping the key locks both tables, and plans lock users first.
-- Both waits together stay below the limit of plans, which queue behind them.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE users IN ACCESS EXCLUSIVE MODE;
ALTER TABLE operations DROP CONSTRAINT operations_actor_user_id_fkey;

CREATE FUNCTION check_actors_of_operations() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT count(DISTINCT actor_user_id) FROM added) <> (
        SELECT count(*)
        FROM (SELECT FROM public.users WHERE id = ANY (ARRAY(SELECT actor_user_id FROM added)) FOR KEY SHARE) AS locked
    ) THEN
        RAISE EXCEPTION 'the actor of a row of % is no user', TG_TABLE_NAME
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'operations_actor_user_id_fkey';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER operations_have_known_actors AFTER INSERT ON operations
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_actors_of_operations();
