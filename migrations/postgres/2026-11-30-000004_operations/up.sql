-- Dropping the foreign key of actors locks both tables, and plans lock users first. Both waits together stay below the
-- limit of plans, which queue behind them.
SET LOCAL lock_timeout = '500ms';
LOCK TABLE users IN ACCESS EXCLUSIVE MODE;
ALTER TABLE operations DROP CONSTRAINT operations_actor_user_id_fkey;

-- The place of an operation in the order of commits. Null: from before this migration. 0: committed by a
-- server of an earlier version, which does not name the column; a job assigns the position. The owner of the
-- entity and the DJ of a request are those whom the operation concerns, if it has an event.
ALTER TABLE operations
    ADD COLUMN position bigint,
    ADD COLUMN owner_id bigint,
    ADD COLUMN dj_id bigint;
ALTER TABLE operations
    ALTER COLUMN position SET DEFAULT 0,
    ADD CONSTRAINT operations_position_check CHECK (position >= 0) NOT VALID;

-- The actors of new operations are checked once per statement. With a foreign key, PostgreSQL would read all operations
-- for each deleted user.
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
