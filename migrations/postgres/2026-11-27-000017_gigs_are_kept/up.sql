-- A gig is never deleted, so that the gig of a request needs a check only when the request is added.
CREATE FUNCTION refuse_removal_of_gig() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'rows of gigs are never deleted, and the gig of a request is never changed'
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'music_requests_gig_id_fkey';
END
$$;
CREATE TRIGGER gigs_are_kept BEFORE DELETE OR TRUNCATE OR UPDATE OF id ON gigs
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_removal_of_gig();
