//! Accounts of members: registration, login, sessions, tokens, addresses, codes, and personal data.

automod::dir!(pub(crate) "tests/http/accounts");
