DROP TRIGGER gigs_are_kept ON gigs;
DROP FUNCTION refuse_removal_of_gig();
