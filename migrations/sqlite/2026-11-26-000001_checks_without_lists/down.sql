PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
    'kind = ''users'' OR kind = ''music_requests'' OR kind = ''withdrawals'' OR kind = ''topups''
            OR kind = ''adjustments'' OR kind = ''sessions''',
    'kind IN (''users'', ''music_requests'', ''withdrawals'', ''topups'', ''adjustments'', ''sessions'')')
WHERE type = 'table' AND name = 'ids';
UPDATE sqlite_schema SET sql = replace(sql,
    'role = ''member'' OR role = ''operator'' OR role = ''auditor''',
    'role IN (''member'', ''operator'', ''auditor'')')
WHERE type = 'table' AND name = 'users';
UPDATE sqlite_schema SET sql = replace(sql,
    'status = ''pending'' OR status = ''accepted'' OR status = ''rejected'' OR status = ''cancelled''
            OR status = ''expired'' OR status = ''played'' OR status = ''refunded''',
    'status IN (''pending'', ''accepted'', ''rejected'', ''cancelled'', ''expired'', ''played'', ''refunded'')')
WHERE type = 'table' AND name = 'music_requests';
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'status = ''pending'' OR status = ''approved'' OR status = ''processing'' OR status = ''broadcast''
            OR status = ''completed'' OR status = ''cancelled'' OR status = ''rejected'' OR status = ''failed''
            OR status = ''needs_review''',
    'status IN (
            ''pending'', ''approved'', ''processing'', ''broadcast'', ''completed'',
            ''cancelled'', ''rejected'', ''failed'', ''needs_review''
        )'),
    'status = ''broadcast'' OR status = ''completed'' OR status = ''failed'' OR status = ''needs_review''',
    'status IN (''broadcast'', ''completed'', ''failed'', ''needs_review'')')
WHERE type = 'table' AND name = 'withdrawals';
UPDATE sqlite_schema SET sql = replace(sql,
    'status = ''pending'' OR status = ''confirmed'' OR status = ''failed'' OR status = ''reversed''',
    'status IN (''pending'', ''confirmed'', ''failed'', ''reversed'')')
WHERE type = 'table' AND name = 'topups';
UPDATE sqlite_schema SET sql = replace(replace(sql,
    'kind = ''topup'' OR kind = ''hold'' OR kind = ''release'' OR kind = ''capture'' OR kind = ''earning''
            OR kind = ''refund'' OR kind = ''reversal'' OR kind = ''adjustment'' OR kind = ''chargeback''',
    'kind IN (
            ''topup'', ''hold'', ''release'', ''capture'', ''earning'', ''refund'', ''reversal'', ''adjustment'', ''chargeback''
        )'),
    'reference_kind = ''music_request'' OR reference_kind = ''withdrawal'' OR reference_kind = ''topup''
            OR reference_kind = ''adjustment''',
    'reference_kind IN (''music_request'', ''withdrawal'', ''topup'', ''adjustment'')')
WHERE type = 'table' AND name = 'ledger_entries';
UPDATE sqlite_schema SET sql = replace(sql,
    'account = ''platform_commission'' OR account = ''outside_topups'' OR account = ''outside_payouts''
            OR account = ''outside_adjustments'' OR account = ''outside_suspense''',
    'account IN (
            ''platform_commission'', ''outside_topups'', ''outside_payouts'', ''outside_adjustments'', ''outside_suspense''
        )')
WHERE type = 'table' AND name = 'postings';
UPDATE sqlite_schema SET sql = replace(sql,
    'state = ''active'' OR state = ''paused'' OR state = ''disabled''',
    'state IN (''active'', ''paused'', ''disabled'')')
WHERE type = 'table' AND name = 'webhook_endpoints';
UPDATE sqlite_schema SET sql = replace(sql,
    'purpose = ''email'' OR purpose = ''phone'' OR purpose = ''password'' OR purpose = ''email_change''
            OR purpose = ''email_restore'' OR purpose = ''email_restore_repeat''',
    'purpose IN (
            ''email'', ''phone'', ''password'', ''email_change'', ''email_restore'', ''email_restore_repeat''
        )')
WHERE type = 'table' AND name = 'challenges';
-- Increments the schema cookie, so that other connections read the schema again.
CREATE VIEW changed_schema AS SELECT 1;
DROP VIEW changed_schema;
PRAGMA writable_schema = RESET;
