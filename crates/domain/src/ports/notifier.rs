//! Messages to users.

use std::fmt;

use async_trait::async_trait;

use crate::ids::WebhookEndpointId;
use crate::ports::{Token, Unavailable};
use crate::text::{Email, Line};
use crate::webhook::DisabledReason;

/// The recipient of a message; its `Debug` output redacts the address, which must not reach a log.
#[derive(Clone, PartialEq, Eq)]
pub enum Recipient {
    /// An e-mail address.
    Email(Email),
    /// A phone number.
    Phone(Line),
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Email(_) => "Email([hidden])",
            Self::Phone(_) => "Phone([hidden])",
        })
    }
}

/// The content of a message; its `Debug` output redacts secrets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The code that verifies the address.
    Code(Token),
    /// The token for a password reset.
    PasswordReset(Token),
    /// A notice that the password was changed, so that its owner can react to an unauthorized change.
    PasswordChanged,
    /// A notice that a webhook endpoint was created, so that the owner of the account can react to an unauthorized
    /// creation.
    WebhookCreated(WebhookEndpointId),
    /// A notice that a webhook endpoint was disabled.
    WebhookDisabled {
        /// Its id.
        endpoint: WebhookEndpointId,
        /// Why.
        reason: DisabledReason,
    },
}

/// Sends messages to users.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Whether this deployment sends messages of this kind.
    fn can_reach(&self, to: &Recipient) -> bool;

    /// Sends a message; when this returns, it was accepted for delivery.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot be sent now, or no transport is configured.
    async fn send(&self, to: &Recipient, notice: &Notice) -> Result<(), Unavailable>;
}
