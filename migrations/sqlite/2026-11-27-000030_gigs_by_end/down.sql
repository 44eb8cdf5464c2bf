DROP INDEX gigs_by_end;
