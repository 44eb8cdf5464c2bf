//! Idempotency keys of creations. They are stored in the row of the endpoint, because no receipt contains its secret.

use super::WebhookEndpoint;
use crate::operation::{KeyRecord, KeyScope};
use crate::timestamp::Timestamp;
use crate::user::session::{Candidates, TokenHash};

/// The idempotency key with which an endpoint was created.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CreationKey {
    pub scope: KeyScope,
    /// A keyed hash of the body without the password.
    pub body: TokenHash,
}

/// The idempotency key of a request to create an endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PresentedCreation {
    pub scope: KeyScope,
    /// The hashes of the body without the password, under each key of the service.
    pub bodies: Candidates<TokenHash>,
}

/// What an endpoint with the scope of a presented key means for a request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KnownCreation {
    /// The request repeats the creation of the endpoint.
    Repeated,
    /// The key was used with another body, or the service's key at that time has been removed.
    OtherBody,
    /// The key has expired and is free again.
    Expired,
}

impl PresentedCreation {
    /// The key as it is stored.
    #[must_use]
    pub const fn stored(&self) -> CreationKey {
        CreationKey { scope: self.scope, body: self.bodies.current }
    }
}

impl WebhookEndpoint {
    /// Compares a presented key with the key of the endpoint. Both have the same scope.
    #[must_use]
    pub fn known_creation(&self, presented: &PresentedCreation, now: Timestamp) -> KnownCreation {
        let stored = self.creation.filter(|creation| creation.scope == presented.scope);
        match stored {
            Some(creation) if now < self.created_at.plus(KeyRecord::RETENTION) => {
                if presented.bodies.iter().any(|body| *body == creation.body) {
                    KnownCreation::Repeated
                } else {
                    KnownCreation::OtherBody
                }
            }
            _ => KnownCreation::Expired,
        }
    }
}
