//! The storage ports.

mod audit;
mod blocks;
mod email_changes;
mod ids;
mod ledger;
mod lists;
mod logins;
mod music_requests;
mod operation_log;
mod people;
mod personal_data;
mod provider_messages;
mod readable;
mod security_log;
mod sessions;
mod store;
mod topups;
mod wallets;
mod webhook_endpoints;
mod withdrawals;

pub(crate) use audit::show_ledger;
pub(crate) use ids::IdRanges;
