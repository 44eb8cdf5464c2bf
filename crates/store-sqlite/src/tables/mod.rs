//! Statements about single tables that several ports share.

pub(crate) mod challenges;
pub(crate) mod counters;
pub(crate) mod login_networks;
pub(crate) mod operations;
pub(crate) mod phone_codes;
pub(crate) mod sessions;
pub(crate) mod users;
pub(crate) mod webhooks;
