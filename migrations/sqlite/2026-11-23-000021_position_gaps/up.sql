-- Positions that no operation has or will have, because commits may have been lost: those between the newest one
-- before a restore and the next one.
CREATE TABLE position_gaps (
    last INTEGER PRIMARY KEY CONSTRAINT position_gaps_last_check CHECK (last >= 0),
    next INTEGER NOT NULL,
    CONSTRAINT position_gaps_is_a_range CHECK (last < next)
) STRICT;
