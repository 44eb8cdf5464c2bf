//! The form of calls and answers, and what holds for every operation.

automod::dir!(pub(crate) "tests/http/wire");
