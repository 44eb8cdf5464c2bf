-- What was added goes with the table.
SELECT;
