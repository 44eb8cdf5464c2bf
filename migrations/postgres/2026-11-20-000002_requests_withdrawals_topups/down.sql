DROP SEQUENCE adjustment_ids;
DROP SEQUENCE topup_ids;
DROP SEQUENCE withdrawal_ids;
DROP SEQUENCE music_request_ids;
DROP TABLE topups;
DROP TABLE withdrawals;
DROP TABLE music_requests;
