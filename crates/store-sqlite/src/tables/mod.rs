//! Statements about single tables that several ports share.

#[path = "../../../store-sql/per_store/tables/challenges.rs"]
pub(crate) mod challenges;
pub(crate) mod counters;
pub(crate) mod income;
pub(crate) mod ledger_entries;
#[path = "../../../store-sql/per_store/tables/login_networks.rs"]
pub(crate) mod login_networks;
pub(crate) mod operations;
#[path = "../../../store-sql/per_store/tables/phone_codes.rs"]
pub(crate) mod phone_codes;
#[path = "../../../store-sql/per_store/tables/sessions.rs"]
pub(crate) mod sessions;
#[path = "../../../store-sql/per_store/tables/users.rs"]
pub(crate) mod users;
#[path = "../../../store-sql/per_store/tables/webhooks.rs"]
pub(crate) mod webhooks;
