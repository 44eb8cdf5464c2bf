-- Moves the seeded rows from the schema `seeded` into the tables of the scripts, in the order in which they were written.

-- The rows were checked when they were seeded.
SET session_replication_role = replica;
SET synchronize_seqscans = off;

DO $$
DECLARE
    filled text;
    columns text;
BEGIN
    FOREACH filled IN ARRAY ARRAY['users', 'wallets', 'music_requests', 'withdrawals', 'operations', 'ledger_entries'] LOOP
        SELECT string_agg(attname, ', ') INTO columns FROM pg_attribute
            WHERE attrelid = format('public.%I', filled)::regclass AND attnum > 0;
        EXECUTE format('INSERT INTO public.%1$I (%2$s) SELECT %2$s FROM seeded.%1$I', filled, columns);
    END LOOP;
END
$$;
SELECT setval('withdrawal_ids', max(id)) FROM withdrawals HAVING max(id) IS NOT NULL;
DROP SCHEMA seeded CASCADE;
