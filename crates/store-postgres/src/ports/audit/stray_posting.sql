-- Returns the first posting of an operation that has no entries and concerns no money in suspense; for the
-- ledger audit, after it found such postings.
-- Index: the primary key; the postings are read in their order until one is found.
SELECT id, operation_id, account, amount, at
FROM postings AS posting
WHERE NOT EXISTS (SELECT FROM ledger_entries WHERE operation_id = posting.operation_id)
    AND NOT EXISTS (SELECT FROM topups WHERE suspense_operation = posting.operation_id)
    AND NOT EXISTS (SELECT FROM topups WHERE settled_operation = posting.operation_id)
ORDER BY id
LIMIT 1
