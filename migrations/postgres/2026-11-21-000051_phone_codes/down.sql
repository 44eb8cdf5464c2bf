DROP TABLE phone_codes;
