CREATE INDEX operations_by_position ON operations (position, owner_id, dj_id);
DROP INDEX operations_of_dj;
DROP INDEX operations_of_owner;
DROP INDEX operations_position_key;
