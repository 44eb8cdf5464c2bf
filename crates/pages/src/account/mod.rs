//! The account of a user: profile, sessions, password, export and erasure.
