-- To check a row against an IN list of more than two values, SQLite builds a temporary B-tree of the list. Comparisons
-- need none. Only the texts of the checks change, because the stored rows stay valid.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
    'kind IN (''users'', ''music_requests'', ''withdrawals'', ''topups'', ''adjustments'', ''sessions'')',
    'kind = ''users'' OR kind = ''music_requests'' OR kind = ''withdrawals'' OR kind = ''topups''
            OR kind = ''adjustments'' OR kind = ''sessions''')
WHERE type = 'table' AND name = 'ids';
UPDATE sqlite_schema SET sql = replace(sql,
    'role IN (''member'', ''operator'', ''auditor'')',
    'role = ''member'' OR role = ''operator'' OR role = ''auditor''')
WHERE type = 'table' AND name = 'users';
UPDATE sqlite_schema SET sql = replace(sql,
    'status IN (''pending'', ''accepted'', ''rejected'', ''cancelled'', ''expired'', ''played'', ''refunded'')',
    'status = ''pending'' OR status = ''accepted'' OR status = ''rejected'' OR status = ''cancelled''
            OR status = ''expired'' OR status = ''played'' OR status = ''refunded''')
WHERE type = 'table' AND name = 'music_requests';
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'status IN (
            ''pending'', ''approved'', ''processing'', ''broadcast'', ''completed'',
            ''cancelled'', ''rejected'', ''failed'', ''needs_review''
        )',
    'status = ''pending'' OR status = ''approved'' OR status = ''processing'' OR status = ''broadcast''
            OR status = ''completed'' OR status = ''cancelled'' OR status = ''rejected'' OR status = ''failed''
            OR status = ''needs_review'''),
    'status IN (''broadcast'', ''completed'', ''failed'', ''needs_review'')',
    'status = ''broadcast'' OR status = ''completed'' OR status = ''failed'' OR status = ''needs_review''')
WHERE type = 'table' AND name = 'withdrawals';
UPDATE sqlite_schema SET sql = replace(sql,
    'status IN (''pending'', ''confirmed'', ''failed'', ''reversed'')',
    'status = ''pending'' OR status = ''confirmed'' OR status = ''failed'' OR status = ''reversed''')
WHERE type = 'table' AND name = 'topups';
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'kind IN (
            ''topup'', ''hold'', ''release'', ''capture'', ''earning'', ''refund'', ''reversal'', ''adjustment'', ''chargeback''
        )',
    'kind = ''topup'' OR kind = ''hold'' OR kind = ''release'' OR kind = ''capture'' OR kind = ''earning''
            OR kind = ''refund'' OR kind = ''reversal'' OR kind = ''adjustment'' OR kind = ''chargeback'''),
    'reference_kind IN (''music_request'', ''withdrawal'', ''topup'', ''adjustment'')',
    'reference_kind = ''music_request'' OR reference_kind = ''withdrawal'' OR reference_kind = ''topup''
            OR reference_kind = ''adjustment''')
WHERE type = 'table' AND name = 'ledger_entries';
UPDATE sqlite_schema SET sql = replace(sql,
    'account IN (
            ''platform_commission'', ''outside_topups'', ''outside_payouts'', ''outside_adjustments'', ''outside_suspense''
        )',
    'account = ''platform_commission'' OR account = ''outside_topups'' OR account = ''outside_payouts''
            OR account = ''outside_adjustments'' OR account = ''outside_suspense''')
WHERE type = 'table' AND name = 'postings';
UPDATE sqlite_schema SET sql = replace(sql,
    'state IN (''active'', ''paused'', ''disabled'')',
    'state = ''active'' OR state = ''paused'' OR state = ''disabled''')
WHERE type = 'table' AND name = 'webhook_endpoints';
UPDATE sqlite_schema SET sql = replace(sql,
    'purpose IN (
            ''email'', ''phone'', ''password'', ''email_change'', ''email_restore'', ''email_restore_repeat''
        )',
    'purpose = ''email'' OR purpose = ''phone'' OR purpose = ''password'' OR purpose = ''email_change''
            OR purpose = ''email_restore'' OR purpose = ''email_restore_repeat''')
WHERE type = 'table' AND name = 'challenges';
-- Increments the schema cookie, so that other connections read the schema again.
CREATE VIEW changed_schema AS SELECT 1;
DROP VIEW changed_schema;
PRAGMA writable_schema = RESET;
