//! Events: feeds, streams, and webhook endpoints.

automod::dir!(pub(crate) "tests/http/events");
