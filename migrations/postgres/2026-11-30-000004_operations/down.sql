SET LOCAL lock_timeout = '500ms';
LOCK TABLE users IN ACCESS EXCLUSIVE MODE;
DROP TRIGGER operations_have_known_actors ON operations;
DROP FUNCTION check_actors_of_operations();
ALTER TABLE operations
    DROP CONSTRAINT operations_position_check,
    DROP COLUMN dj_id,
    DROP COLUMN owner_id,
    DROP COLUMN position,
    ADD CONSTRAINT operations_actor_user_id_fkey FOREIGN KEY (actor_user_id) REFERENCES users;
