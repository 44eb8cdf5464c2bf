//! Messages to people.

use std::fmt;

use async_trait::async_trait;

use crate::ports::{Token, Unavailable};
use crate::text::{Email, Line};

/// Where a message goes; it prints without the address, which no log should have.
#[derive(Clone, PartialEq, Eq)]
pub enum Recipient {
    /// To a mail address.
    Email(Email),
    /// To a phone.
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

/// What it says; secrets print as nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The code that proves the address.
    Code(Token),
    /// The token with which to set a new password.
    PasswordReset(Token),
    /// That the password was changed, so that who did not do it can act.
    PasswordChanged,
}

/// Sends messages to people.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Whether this deployment sends anything there.
    fn can_reach(&self, to: &Recipient) -> bool;

    /// Sends a message; it was accepted for delivery when this returns.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot be sent now, or there is nothing configured that could.
    async fn send(&self, to: &Recipient, notice: &Notice) -> Result<(), Unavailable>;
}
