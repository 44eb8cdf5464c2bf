-- Fails where there are tips, because their entries are never deleted.
CREATE TABLE reverted (tips INTEGER NOT NULL CONSTRAINT tips_are_kept CHECK (tips = 0)) STRICT;
INSERT INTO reverted SELECT count(*) FROM tips;
DROP TABLE reverted;
DELETE FROM ids WHERE kind = 'tips';
DROP TABLE tips;
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, 'OR kind = ''gigs'' OR kind = ''tips''', 'OR kind = ''gigs''')
WHERE type = 'table' AND name = 'ids';
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'OR kind = ''chargeback'' OR kind = ''tip''', 'OR kind = ''chargeback'''),
    'OR reference_kind = ''adjustment'' OR reference_kind = ''tip''', 'OR reference_kind = ''adjustment''')
WHERE type = 'table' AND name = 'ledger_entries';
CREATE VIEW changed_schema AS SELECT 1;
DROP VIEW changed_schema;
PRAGMA writable_schema = RESET;
