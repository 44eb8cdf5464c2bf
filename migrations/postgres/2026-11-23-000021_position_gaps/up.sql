-- Positions that no operation has or will have, because commits may have been lost: those between the newest one
-- before a restore or a failover and the next one.
CREATE TABLE position_gaps (
    last bigint PRIMARY KEY CHECK (last >= 0),
    next bigint NOT NULL,
    CONSTRAINT position_gaps_is_a_range CHECK (last < next)
);
-- The timeline of the newest operations; a failover begins a newer one. Null before the first operations at
-- feature level 2.
ALTER TABLE deployment ADD COLUMN timeline bigint CHECK (timeline >= 0);
