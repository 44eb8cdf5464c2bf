//! What one client can use up: rates, queues, sizes and time.

automod::dir!(pub(crate) "tests/http/limits");
