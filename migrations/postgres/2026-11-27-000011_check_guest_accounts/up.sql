ALTER TABLE users VALIDATE CONSTRAINT users_role_check;
ALTER TABLE users VALIDATE CONSTRAINT users_guests_have_no_login;
