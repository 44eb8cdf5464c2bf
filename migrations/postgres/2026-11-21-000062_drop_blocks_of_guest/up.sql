-- Another index begins with the same column.
DROP INDEX blocks_of_guest;
