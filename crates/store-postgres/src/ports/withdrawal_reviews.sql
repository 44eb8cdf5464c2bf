-- Returns the facts beside withdrawals: the withdrawal, its owner's debt, the sum of its amount and of those that are
-- added up with it, and the time of the last change of the owner's login.
-- $1: the withdrawals.
-- $2: the distance in time within which the withdrawals of an owner are added up.
-- $3: the statuses of withdrawals that do not count.
-- Index: withdrawals_pkey, wallets_pkey, users_pkey, withdrawals_of_user.
SELECT own.id, wallet.owed, own.amount + near.amount AS sum, owner.login_changed_at
FROM withdrawals AS own
JOIN wallets AS wallet ON wallet.user_id = own.user_id
JOIN users AS owner ON owner.id = own.user_id
CROSS JOIN LATERAL (
    SELECT coalesce(sum(other.amount), 0) AS amount
    FROM withdrawals AS other
    WHERE other.user_id = own.user_id
        AND other.created_at > own.created_at - $2::interval
        AND other.created_at < own.created_at + $2::interval
        AND other.id <> own.id
        AND other.status <> ALL ($3::text[])
) AS near
WHERE own.id = ANY ($1::bigint[])
