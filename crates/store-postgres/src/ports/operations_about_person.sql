-- Returns the operations in the export of a user's data, newest first, from a position on.
-- $1: the user.
-- $2, $3: the position, a time and an id; NULL for the first page.
-- $4: the maximum number of rows.
-- Index: operations_about_people, whose expression and condition are repeated.
SELECT id, kind, actor_user_id, reason, at, receipt, posting_rules, position, owner_id, dj_id
FROM operations
WHERE (receipt ? 'profile' OR reason IS NOT NULL)
    AND coalesce(
        receipt #>> '{profile,user,id}',
        receipt #>> '{withdrawal,withdrawal,user_id}',
        receipt #>> '{request,requester_id}',
        receipt #>> '{topup,user_id}',
        receipt #>> '{adjustment,adjustment,user_id}'
    )::bigint = $1::bigint
    AND (at, id) < (
        coalesce($2::timestamptz, 'infinity'),
        coalesce($3::uuid, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
    )
ORDER BY at DESC, id DESC
LIMIT $4::bigint
