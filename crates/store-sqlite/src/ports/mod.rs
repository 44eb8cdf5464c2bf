//! The storage ports.

mod about_person;
mod added_messages;
mod audit;
#[path = "../../../store-sql/per_store/ports/blocks.rs"]
mod blocks;
#[path = "../../../store-sql/per_store/ports/email_changes.rs"]
mod email_changes;
mod endpoints_with_work;
#[path = "../../../store-sql/per_store/ports/gigs.rs"]
mod gigs;
#[path = "../../../store-sql/per_store/ports/guest_accounts.rs"]
mod guest_accounts;
mod ids;
#[path = "../../../store-sql/per_store/ports/ledger.rs"]
mod ledger;
#[path = "../../../store-sql/per_store/ports/logins.rs"]
mod logins;
#[path = "../../../store-sql/per_store/ports/music_requests.rs"]
mod music_requests;
mod operation_log;
mod payouts;
#[path = "../../../store-sql/per_store/ports/people.rs"]
mod people;
#[path = "../../../store-sql/per_store/ports/personal_data.rs"]
mod personal_data;
#[path = "../../../store-sql/per_store/ports/personal_tokens.rs"]
mod personal_tokens;
#[path = "../../../store-sql/per_store/ports/provider_messages.rs"]
mod provider_messages;
#[path = "../../../store-sql/per_store/ports/readable.rs"]
mod readable;
mod request_lists;
mod revocations;
#[path = "../../../store-sql/per_store/ports/security_log.rs"]
mod security_log;
#[path = "../../../store-sql/per_store/ports/sessions.rs"]
mod sessions;
mod store;
#[path = "../../../store-sql/per_store/ports/tips.rs"]
mod tips;
#[path = "../../../store-sql/per_store/ports/topups.rs"]
mod topups;
#[path = "../../../store-sql/per_store/ports/wallet_links.rs"]
mod wallet_links;
#[path = "../../../store-sql/per_store/ports/wallets.rs"]
mod wallets;
#[path = "../../../store-sql/per_store/ports/webhook_endpoints.rs"]
mod webhook_endpoints;
#[path = "../../../store-sql/per_store/ports/withdrawals.rs"]
mod withdrawals;

pub(crate) use audit::show_ledger;
pub(crate) use ids::SqliteIds;
