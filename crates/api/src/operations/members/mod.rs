//! Operations of users: their logins, tokens, profiles, requests, wallets, tips, withdrawals, events and webhook endpoints.

pub mod auth;
pub mod blocks;
pub mod djs;
pub mod email_changes;
pub mod event_streams;
pub mod events;
pub mod gigs;
pub mod passwords;
pub mod personal_data;
pub mod personal_tokens;
pub mod profile;
pub mod ratings;
pub mod requests;
pub mod sessions;
pub mod tips;
pub mod topups;
pub mod verifications;
pub mod wallet;
pub mod webhook_endpoints;
pub mod withdrawals;

use crate::declaration::Declaration;

/// The operations of each subject.
pub(super) fn operations() -> Vec<Declaration> {
    [
        auth::operations(),
        blocks::operations(),
        djs::operations(),
        email_changes::operations(),
        event_streams::operations(),
        events::operations(),
        gigs::operations(),
        passwords::operations(),
        personal_data::operations(),
        personal_tokens::operations(),
        profile::operations(),
        ratings::operations(),
        requests::operations(),
        sessions::operations(),
        tips::operations(),
        topups::operations(),
        verifications::operations(),
        wallet::operations(),
        webhook_endpoints::operations(),
        withdrawals::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
