DROP TRIGGER operations_are_never_changed;
DROP INDEX operations_by_position;
ALTER TABLE operations DROP COLUMN dj_id;
ALTER TABLE operations DROP COLUMN owner_id;
ALTER TABLE operations DROP COLUMN position;
CREATE TRIGGER operations_are_never_changed BEFORE UPDATE ON operations
    WHEN (NEW.id, NEW.kind, NEW.at) IS NOT (OLD.id, OLD.kind, OLD.at)
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
