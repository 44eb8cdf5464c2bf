DROP TABLE provider_messages;
