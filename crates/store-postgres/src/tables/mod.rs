//! Statements about single tables that several ports and commands share.

pub(crate) mod adjustments;
pub(crate) mod advisory_locks;
pub(crate) mod challenges;
pub(crate) mod login_networks;
pub(crate) mod phone_codes;
pub(crate) mod positions;
pub(crate) mod sessions;
pub(crate) mod users;
pub(crate) mod webhooks;
