//! The page of a gig for its guests.
