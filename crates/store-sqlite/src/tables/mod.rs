//! Statements about single tables that several ports share.

pub(crate) mod login_networks;
pub(crate) mod sessions;
