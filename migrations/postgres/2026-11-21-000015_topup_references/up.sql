-- The same for the provider of top-ups, in a migration of its own, which locks one table.
ALTER TABLE topups ADD COLUMN reference uuid;
