SET LOCAL lock_timeout = '500ms';
DROP TRIGGER music_requests_keep_their_gig ON music_requests;
DROP TRIGGER music_requests_belong_to_gigs ON music_requests;
DROP FUNCTION check_gigs_of_requests();
ALTER TABLE music_requests
    ADD CONSTRAINT music_requests_gig_id_fkey FOREIGN KEY (gig_id) REFERENCES gigs;
