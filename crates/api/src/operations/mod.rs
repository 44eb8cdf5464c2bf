//! The operations of the API: one file per subject declares its operations beside their handlers.
//!
//! [`members`] has the operations of users, [`staff`] those of operators and auditors, [`providers`] those of payment and
//! payout systems.

pub mod docs;
pub mod health;
pub mod jwks;
pub mod members;
pub mod providers;
pub mod settings;
pub mod staff;

use crate::declaration::Declaration;

/// All operations, by subject.
#[must_use]
pub fn all() -> Vec<Declaration> {
    [
        members::auth::operations(),
        members::sessions::operations(),
        members::passwords::operations(),
        members::verifications::operations(),
        members::email_changes::operations(),
        members::profile::operations(),
        members::personal_data::operations(),
        members::djs::operations(),
        members::blocks::operations(),
        members::requests::operations(),
        members::ratings::operations(),
        members::wallet::operations(),
        members::topups::operations(),
        members::withdrawals::operations(),
        members::events::operations(),
        members::event_streams::operations(),
        members::webhook_endpoints::operations(),
        providers::messages::operations(),
        staff::withdrawals::operations(),
        staff::topups::operations(),
        staff::webhook_endpoints::operations(),
        staff::corrections::operations(),
        staff::audit::operations(),
        staff::people::operations(),
        staff::security_log::operations(),
        settings::operations(),
        staff::provider_messages::operations(),
        health::operations(),
        docs::operations(),
        jwks::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
