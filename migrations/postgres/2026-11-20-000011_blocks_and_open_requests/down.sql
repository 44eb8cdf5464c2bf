DROP INDEX music_requests_open;
DROP TABLE blocks;
