//! Operators and auditors: how they are appointed, what they do, and what is recorded.

automod::dir!(pub(crate) "tests/http/staff");
