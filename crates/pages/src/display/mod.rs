//! The display on a wall, and the overlay of streaming software.
