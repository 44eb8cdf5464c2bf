-- One statement alone, as that of the withdrawals.
CREATE UNIQUE INDEX CONCURRENTLY topups_reference_key ON topups (reference) WHERE reference IS NOT NULL;
