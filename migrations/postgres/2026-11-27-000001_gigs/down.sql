DROP TABLE gigs;
DROP SEQUENCE gig_ids;
DROP TABLE gig_codes;
