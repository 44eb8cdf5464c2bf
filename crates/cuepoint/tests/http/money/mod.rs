//! Money: top-ups, withdrawals, tips, providers, and the ledger.

automod::dir!(pub(crate) "tests/http/money");
