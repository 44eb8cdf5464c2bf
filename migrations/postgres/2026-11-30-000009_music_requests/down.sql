DROP TRIGGER music_requests_keep_their_gig ON music_requests;
DROP TRIGGER music_requests_belong_to_gigs ON music_requests;
DROP FUNCTION check_gigs_of_requests();
ALTER TABLE music_requests
    DROP COLUMN displaced,
    DROP COLUMN counts_as_guest,
    DROP COLUMN gig_id;
