//! Operations of operators and auditors.

pub mod audit;
pub mod corrections;
pub mod people;
pub mod provider_messages;
pub mod reason;
pub mod security_log;
pub mod topups;
pub mod wallet_links;
pub mod webhook_endpoints;
pub mod withdrawals;

use crate::declaration::Declaration;

/// The operations of each subject.
pub(super) fn operations() -> Vec<Declaration> {
    [
        audit::operations(),
        corrections::operations(),
        people::operations(),
        provider_messages::operations(),
        security_log::operations(),
        topups::operations(),
        wallet_links::operations(),
        webhook_endpoints::operations(),
        withdrawals::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
