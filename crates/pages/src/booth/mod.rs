//! The booth of a DJ: the queue of the gig, the settings and the poster.
