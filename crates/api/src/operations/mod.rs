//! The operations of the API: one file per subject declares its operations beside their handlers.

pub mod audit;
pub mod auth;
pub mod blocks;
pub mod corrections;
pub mod djs;
pub mod docs;
pub mod email_changes;
pub mod event_streams;
mod events;
pub mod health;
pub mod jwks;
pub mod messages_from_providers;
pub mod operator_topups;
pub mod operator_webhook_endpoints;
pub mod operator_withdrawals;
pub mod passwords;
pub mod people;
pub mod personal_data;
pub mod profile;
pub mod provider_messages;
pub mod ratings;
pub mod reason;
pub mod requests;
pub mod security_log;
pub mod sessions;
pub mod settings;
pub mod topups;
pub mod verifications;
pub mod wallet;
pub mod webhook_endpoints;
pub mod withdrawals;

use crate::declaration::Declaration;

/// All operations, by subject.
#[must_use]
pub fn all() -> Vec<Declaration> {
    [
        auth::operations(),
        sessions::operations(),
        passwords::operations(),
        verifications::operations(),
        email_changes::operations(),
        profile::operations(),
        personal_data::operations(),
        djs::operations(),
        blocks::operations(),
        requests::operations(),
        ratings::operations(),
        wallet::operations(),
        topups::operations(),
        withdrawals::operations(),
        events::operations(),
        event_streams::operations(),
        webhook_endpoints::operations(),
        messages_from_providers::operations(),
        operator_withdrawals::operations(),
        operator_topups::operations(),
        operator_webhook_endpoints::operations(),
        corrections::operations(),
        audit::operations(),
        people::operations(),
        security_log::operations(),
        settings::operations(),
        provider_messages::operations(),
        health::operations(),
        docs::operations(),
        jwks::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
