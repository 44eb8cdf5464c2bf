-- What is made most often: a server that makes many of them need not ask for every 32.
ALTER SEQUENCE music_request_ids INCREMENT BY 1024;
ALTER SEQUENCE withdrawal_ids INCREMENT BY 1024;
