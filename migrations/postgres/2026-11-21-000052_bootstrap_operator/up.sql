-- That the first operator was made, whatever became of them: one row, written once. Only the owner of the database deletes it,
-- to have one made again.
CREATE TABLE bootstrap_operator (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    made_at timestamptz NOT NULL
);
-- One was made wherever somebody is an operator, erased or not, or something was done that only operators do.
INSERT INTO bootstrap_operator (made_at)
    SELECT now() WHERE EXISTS (SELECT FROM users WHERE role = 'operator')
        OR EXISTS (SELECT FROM operations WHERE kind IN ('role', 'suspend', 'restore', 'adjust'));
