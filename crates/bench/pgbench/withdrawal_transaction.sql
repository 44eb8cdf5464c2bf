-- A withdrawal with every row that ours writes, in an interactive transaction that locks the wallet first.
-- Operations have ordered ids, as ours have, and positions without a lock, which may have gaps.
\set user :first_user + :user_step * random(0, :users - 1)
BEGIN;
SELECT seq + 1 AS seq, available - 1 AS available, held + 1 AS held, owed, lpad(to_hex(nextval('adjustment_ids')), 32, '0')::uuid AS operation,
    nextval('withdrawal_ids') AS withdrawal
FROM wallets WHERE user_id = :user AND available >= 1 FOR UPDATE \gset
UPDATE wallets SET available = :available, held = :held, seq = :seq, last_at = now(),
    head = '\x1111111111111111111111111111111111111111111111111111111111111111'
WHERE user_id = :user;
INSERT INTO operations (id, kind, actor_user_id, at, position, receipt)
VALUES (:operation, 'open_withdrawal', :user, now(), 1000000000 + currval('adjustment_ids'),
    '{"withdrawal": {"withdrawal": {"id": 123456, "user_id": 1234, "amount": "1.00",
      "wallet_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "currency": "BTC", "network": "bitcoin",
      "status": "pending", "txid": null, "created_at": "1790000000000000", "updated_at": "1790000000000000",
      "attempts": 0, "retry_at": null}, "balance": {"available": "1234567.00", "held": "1234.00", "owed": "0.00"}}}');
INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, status, created_at, updated_at)
VALUES (:withdrawal, :user, 1, 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'BTC', 'bitcoin', 'pending', now(), now());
INSERT INTO ledger_entries (wallet_id, seq, operation_id, kind, reference_kind, reference_id, available_change,
    held_change, owed_change, available_after, held_after, owed_after, at, previous, hash)
VALUES (:user, :seq, :operation, 'hold', 'withdrawal', :withdrawal, -1, 1, 0, :available, :held, :owed, now(),
    '\x2222222222222222222222222222222222222222222222222222222222222222',
    '\x1111111111111111111111111111111111111111111111111111111111111111');
COMMIT;
