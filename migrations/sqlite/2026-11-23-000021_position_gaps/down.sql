DROP TABLE position_gaps;
