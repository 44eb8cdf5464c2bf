-- The gig of a request, whether it counted as a guest's when it was made, and whether a request with a fee took its place.
ALTER TABLE music_requests
    ADD COLUMN gig_id bigint,
    ADD COLUMN counts_as_guest boolean NOT NULL DEFAULT false,
    ADD COLUMN displaced boolean NOT NULL DEFAULT false,
    ADD CONSTRAINT music_requests_displaced_check
        CHECK (NOT displaced OR (status = 'rejected' AND fee = 0 AND gig_id IS NOT NULL)) NOT VALID;

-- The gigs of new requests are checked once per statement: a foreign key checks and locks them once per row.
CREATE FUNCTION check_gigs_of_requests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (
        SELECT FROM added
        WHERE gig_id IS NOT NULL AND NOT EXISTS (SELECT FROM public.gigs WHERE gigs.id = added.gig_id)
    ) THEN
        RAISE EXCEPTION 'a row of % belongs to no gig', TG_TABLE_NAME
            USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'music_requests_gig_id_fkey';
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER music_requests_belong_to_gigs AFTER INSERT ON music_requests
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION check_gigs_of_requests();
CREATE TRIGGER music_requests_keep_their_gig BEFORE UPDATE OF gig_id ON music_requests
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal_of_gig();
