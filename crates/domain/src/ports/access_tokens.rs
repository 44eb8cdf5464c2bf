//! Issuing of access tokens.

use std::fmt;

use crate::authorization::Principal;

/// A signed access token; its `Debug` output redacts the text.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    pub token: String,
    /// Its validity, in seconds.
    pub expires_in_seconds: i64,
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken([hidden])")
    }
}

/// An access token could not be signed, because no key is in force.
#[derive(Debug, thiserror::Error)]
#[error("an access token could not be signed: {0}")]
pub struct SigningError(#[source] pub Box<dyn std::error::Error + Send + Sync>);

/// Issues access tokens.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait AccessTokens: Send + Sync {
    /// A new token for this principal, of the current epoch of the data.
    ///
    /// # Errors
    /// [`SigningError`].
    fn issue(&self, principal: &Principal) -> Result<AccessToken, SigningError>;
}
