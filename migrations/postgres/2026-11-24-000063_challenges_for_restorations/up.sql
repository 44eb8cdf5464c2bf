DROP INDEX CONCURRENTLY IF EXISTS challenges_for_restorations;
CREATE INDEX CONCURRENTLY challenges_for_restorations ON challenges (hash) WHERE purpose = 'email_restore';
