-- The place of an operation in the order of commits; null from before this migration. The owner of the entity
-- and the DJ of a request are those whom the operation concerns, if it has an event.
ALTER TABLE operations
    ADD COLUMN position INTEGER CONSTRAINT operations_position_check CHECK (position > 0);
ALTER TABLE operations ADD COLUMN owner_id INTEGER;
ALTER TABLE operations ADD COLUMN dj_id INTEGER;
-- A feed is filtered from this index alone. An index by user would have entries on two random pages for each
-- operation; new entries of this one are on its last page.
CREATE INDEX operations_by_position ON operations (position, owner_id, dj_id);

DROP TRIGGER operations_are_never_changed;
CREATE TRIGGER operations_are_never_changed BEFORE UPDATE ON operations
    WHEN (NEW.id, NEW.kind, NEW.at) IS NOT (OLD.id, OLD.kind, OLD.at)
        OR (NEW.position, NEW.owner_id, NEW.dj_id) IS NOT (OLD.position, OLD.owner_id, OLD.dj_id)
        OR (NEW.actor_user_id, NEW.reason, NEW.posting_rules) IS NOT (OLD.actor_user_id, OLD.reason, OLD.posting_rules)
        OR NEW.receipt IS NOT OLD.receipt AND (
            json_type(OLD.receipt, '$.profile.user.id') IS NULL
            OR NEW.receipt IS NOT json_object(
                'profile', json_object('user', json_object('id', json_extract(OLD.receipt, '$.profile.user.id')))
            )
        )
BEGIN
    SELECT RAISE(ABORT, 'operations_are_never_changed: rows of operations are append-only');
END;
