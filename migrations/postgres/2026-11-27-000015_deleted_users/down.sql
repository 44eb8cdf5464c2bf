DROP TRIGGER users_are_kept ON users;
DROP TRIGGER users_are_kept_unless_unused_guests ON users;
DROP FUNCTION refuse_removal_of_used_user();
