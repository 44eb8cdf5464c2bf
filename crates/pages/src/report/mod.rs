//! The past gigs of a DJ with their reports.
