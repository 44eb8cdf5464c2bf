//! Gigs and the requests in them.

automod::dir!(pub(crate) "tests/http/gigs");
