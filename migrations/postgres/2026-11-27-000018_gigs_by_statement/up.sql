-- The gigs of new requests are checked once per statement: a foreign key checks and locks them once per row. Dropping the
-- key locks both tables, requests first, as plans do.
-- Both waits together stay below the limit of plans, which queue behind them.
SET LOCAL lock_timeout = '500ms';
ALTER TABLE music_requests DROP CONSTRAINT music_requests_gig_id_fkey;

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
