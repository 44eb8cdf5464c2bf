-- Moves every sequence past its maximum and past the numbers that rows have from it.
-- $1: the distance.
-- Index: the primary keys, ledger_entries_of_reference.
SELECT setval(sequence::regclass, greatest(newest, in_rows) + $1::bigint) AS moved_to
FROM (VALUES
    ('user_ids', (SELECT last_value FROM user_ids), (SELECT max(id) FROM users)),
    ('music_request_ids', (SELECT last_value FROM music_request_ids), (SELECT max(id) FROM music_requests)),
    ('withdrawal_ids', (SELECT last_value FROM withdrawal_ids), (SELECT max(id) FROM withdrawals)),
    ('topup_ids', (SELECT last_value FROM topup_ids), (SELECT max(id) FROM topups)),
    ('adjustment_ids', (SELECT last_value FROM adjustment_ids),
        (SELECT max(reference_id) FROM ledger_entries WHERE reference_kind = 'adjustment')),
    ('gig_ids', (SELECT last_value FROM gig_ids), (SELECT max(id) FROM gigs)),
    ('tip_ids', (SELECT last_value FROM tip_ids), (SELECT max(id) FROM tips)),
    ('session_ids', (SELECT last_value FROM session_ids), (SELECT max(id) FROM sessions)),
    ('postings_id_seq', (SELECT last_value FROM postings_id_seq), (SELECT max(id) FROM postings)),
    ('login_networks_id_seq', (SELECT last_value FROM login_networks_id_seq), (SELECT max(id) FROM login_networks)),
    ('phone_codes_id_seq', (SELECT last_value FROM phone_codes_id_seq), (SELECT max(id) FROM phone_codes)),
    ('challenges_id_seq', (SELECT last_value FROM challenges_id_seq), (SELECT max(id) FROM challenges)),
    ('security_events_id_seq', (SELECT last_value FROM security_events_id_seq), (SELECT max(id) FROM security_events)),
    ('provider_messages_id_seq', (SELECT last_value FROM provider_messages_id_seq),
        (SELECT max(id) FROM provider_messages)),
    ('webhook_endpoints_id_seq', (SELECT last_value FROM webhook_endpoints_id_seq),
        (SELECT max(id) FROM webhook_endpoints))
) AS sequences (sequence, newest, in_rows)
