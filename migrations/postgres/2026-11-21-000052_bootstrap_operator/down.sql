DROP TABLE bootstrap_operator;
