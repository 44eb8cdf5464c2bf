DROP INDEX users_djs_by_presence;
DROP INDEX users_djs;
CREATE INDEX users_djs ON users (created_at DESC, id DESC) WHERE is_dj;
DROP INDEX withdrawals_newest;
DROP INDEX music_requests_of_dj_by_status;
