DELETE FROM ids WHERE kind = 'gigs';
DROP TABLE request_messages;
DROP INDEX music_requests_by_gig;
ALTER TABLE music_requests DROP COLUMN gig_id;
DROP TABLE gigs;
DROP TABLE gig_codes;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'OR kind = ''sessions'' OR kind = ''gigs''', 'OR kind = ''sessions''')
WHERE type = 'table' AND name = 'ids';
CREATE VIEW changed_schema AS SELECT 1;
DROP VIEW changed_schema;
PRAGMA writable_schema = RESET;
