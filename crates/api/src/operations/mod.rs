//! The operations of the API: one file per subject declares its operations beside their handlers.
//!
//! [`members`] has the operations of users, [`staff`] those of operators and auditors, [`providers`] those of payment and
//! payout systems.

pub mod boards;
pub mod docs;
pub mod health;
pub mod jwks;
pub mod members;
pub mod providers;
pub mod settings;
pub mod staff;

use crate::declaration::Declaration;

/// All operations.
#[must_use]
pub fn all() -> Vec<Declaration> {
    [
        members::operations(),
        boards::operations(),
        providers::messages::operations(),
        staff::operations(),
        settings::operations(),
        health::operations(),
        docs::operations(),
        jwks::operations(),
    ]
    .into_iter()
    .flatten()
    .collect()
}
