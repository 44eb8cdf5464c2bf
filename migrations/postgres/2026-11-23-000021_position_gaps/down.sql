ALTER TABLE deployment DROP COLUMN timeline;
DROP TABLE position_gaps;
