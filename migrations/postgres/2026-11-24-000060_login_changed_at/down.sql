ALTER TABLE users DROP COLUMN login_changed_at;
