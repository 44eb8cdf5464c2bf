-- Servers that know of the longer blocks must have ended. First the lock, then past the whole of the last block, which one of
-- them may have used.
ALTER SEQUENCE music_request_ids INCREMENT BY 32;
ALTER SEQUENCE withdrawal_ids INCREMENT BY 32;
SELECT setval('music_request_ids', last_value + 1024 - 32) FROM music_request_ids WHERE is_called;
SELECT setval('withdrawal_ids', last_value + 1024 - 32) FROM withdrawal_ids WHERE is_called;
