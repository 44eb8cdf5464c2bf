-- What changed a person's profile or account, and what operators did about them with a reason: for the export of their
-- data, and for its erasure.
DROP INDEX CONCURRENTLY IF EXISTS operations_about_people;
CREATE INDEX CONCURRENTLY operations_about_people ON operations (
    (coalesce(
        receipt #>> '{profile,user,id}',
        receipt #>> '{withdrawal,withdrawal,user_id}',
        receipt #>> '{request,requester_id}',
        receipt #>> '{topup,user_id}',
        receipt #>> '{adjustment,adjustment,user_id}'
    )::bigint),
    at,
    id
) WHERE receipt ? 'profile' OR reason IS NOT NULL;
