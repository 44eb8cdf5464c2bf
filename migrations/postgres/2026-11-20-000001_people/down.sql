DROP SEQUENCE user_ids;
DROP TABLE wallets;
DROP TABLE users;
DROP TABLE deployment;
DROP DOMAIN money_sum;
