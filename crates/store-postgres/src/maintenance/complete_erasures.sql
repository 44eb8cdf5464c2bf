-- Marks as pending the erasures by servers of the first version, which do not know networks of logins.
-- Index: none, since it runs once for each deployment, without a time limit.
UPDATE users SET erasure_pending = true
WHERE erased_at IS NOT NULL AND EXISTS (SELECT FROM login_networks WHERE user_id = users.id)
