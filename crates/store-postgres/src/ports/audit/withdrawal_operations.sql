-- Returns the operations that moved or approved withdrawals, including those without entries, each with its
-- withdrawal.
-- $1: the withdrawals.
-- Index: operations_on_withdrawals, whose expression and condition are repeated.
SELECT (receipt #>> '{withdrawal,withdrawal,id}')::bigint AS withdrawal, id, kind, actor_user_id, reason, at, receipt,
    posting_rules, position, owner_id, dj_id
FROM operations
WHERE kind IN ('move_withdrawal', 'approve_withdrawal')
    AND (receipt #>> '{withdrawal,withdrawal,id}')::bigint = ANY ($1::bigint[])
