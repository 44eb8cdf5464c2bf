DROP INDEX CONCURRENTLY IF EXISTS operations_on_withdrawals;
CREATE INDEX CONCURRENTLY operations_on_withdrawals ON operations (((receipt #>> '{withdrawal,withdrawal,id}')::bigint)) WHERE kind IN ('move_withdrawal', 'approve_withdrawal');
