-- A withdrawal with every row that ours writes, in one statement; constants stand for the hashes and the receipt.
-- Operations have ordered ids, as ours have, and positions without a lock, which may have gaps.
\set user :first_user + :user_step * random(0, :users - 1)
WITH wallet AS (
    UPDATE wallets SET available = available - 1, held = held + 1, seq = seq + 1, last_at = now(),
        head = '\x1111111111111111111111111111111111111111111111111111111111111111'
    WHERE user_id = :user AND available >= 1
    RETURNING user_id, seq, available, held, owed
), operation AS (
    INSERT INTO operations (id, kind, actor_user_id, at, position, receipt)
    SELECT lpad(to_hex(nextval('adjustment_ids')), 32, '0')::uuid, 'open_withdrawal', user_id, now(),
        1000000000 + currval('adjustment_ids'),
        '{"withdrawal": {"withdrawal": {"id": 123456, "user_id": 1234, "amount": "1.00",
          "wallet_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "currency": "BTC", "network": "bitcoin",
          "status": "pending", "txid": null, "created_at": "1790000000000000", "updated_at": "1790000000000000",
          "attempts": 0, "retry_at": null}, "balance": {"available": "1234567.00", "held": "1234.00", "owed": "0.00"}}}'
    FROM wallet
    RETURNING id
), withdrawal AS (
    INSERT INTO withdrawals (id, user_id, amount, wallet_address, currency, network, status, created_at, updated_at)
    SELECT nextval('withdrawal_ids'), user_id, 1, 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq', 'BTC', 'bitcoin',
        'pending', now(), now()
    FROM wallet
    RETURNING id
)
INSERT INTO ledger_entries (wallet_id, seq, operation_id, kind, reference_kind, reference_id, available_change,
    held_change, owed_change, available_after, held_after, owed_after, at, previous, hash)
SELECT user_id, seq, operation.id, 'hold', 'withdrawal', withdrawal.id, -1, 1, 0, available, held, owed, now(),
    '\x2222222222222222222222222222222222222222222222222222222222222222',
    '\x1111111111111111111111111111111111111111111111111111111111111111'
FROM wallet, operation, withdrawal;
