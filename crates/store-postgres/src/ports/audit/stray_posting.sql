-- Returns the first posting of an operation without entries that is of no money in suspense either; for the
-- ledger audit, where postings are known to have none.
-- Index: the primary key; the postings are read in their order until one is found.
SELECT id, operation_id, account, amount, at
FROM postings AS posting
WHERE NOT EXISTS (SELECT FROM ledger_entries WHERE operation_id = posting.operation_id)
    AND NOT EXISTS (SELECT FROM topups WHERE suspense_operation = posting.operation_id)
    AND NOT EXISTS (SELECT FROM topups WHERE settled_operation = posting.operation_id)
ORDER BY id
LIMIT 1
