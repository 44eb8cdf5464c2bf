-- A validated check cannot be made unvalidated, and needs not be.
SELECT 1;
