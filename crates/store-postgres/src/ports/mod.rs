//! The domain's storage ports, one file for each.

mod audit;
#[path = "../../../store-sql/per_store/ports/blocks.rs"]
mod blocks;
#[path = "../../../store-sql/per_store/ports/email_changes.rs"]
mod email_changes;
mod ids;
mod ledger;
#[path = "../../../store-sql/per_store/ports/logins.rs"]
mod logins;
mod music_requests;
mod operation_log;
#[path = "../../../store-sql/per_store/ports/people.rs"]
mod people;
mod personal_data;
mod provider_messages;
mod revocations;
mod security_log;
#[path = "../../../store-sql/per_store/ports/sessions.rs"]
mod sessions;
mod store;
mod topups;
mod wallets;
mod webhook_endpoints;
mod withdrawals;

pub(crate) use audit::show_ledger;
pub(crate) use ids::IdRanges;
