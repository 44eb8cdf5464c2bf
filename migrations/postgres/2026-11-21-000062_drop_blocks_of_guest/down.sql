CREATE INDEX blocks_of_guest ON blocks (guest_id);
