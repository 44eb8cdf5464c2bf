//! Guests: their accounts, wallets, payments and pages.

automod::dir!(pub(crate) "tests/http/guests");
