-- The time of the last change of the e-mail address or reset of the password.
ALTER TABLE users ADD COLUMN login_changed_at INTEGER;
