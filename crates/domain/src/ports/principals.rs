//! The current state of an authenticated principal.

use crate::authorization::{Principal, Revocation};
use crate::ports::Unavailable;

/// Why a principal is refused although their access token is valid.
#[derive(Debug, thiserror::Error)]
pub enum PrincipalRefusal {
    /// The session ended or the user was suspended.
    #[error(transparent)]
    Revoked(#[from] Revocation),
    /// The revocation list or the clock is currently unreliable.
    #[error("the revocation list or the clock is unreliable: {0}")]
    Unreliable(#[source] Unavailable),
}

/// Compares principals with the revocation list.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait PrincipalCheck: Send + Sync {
    /// The principal with their current role, before a change. It reads memory only.
    ///
    /// # Errors
    /// [`PrincipalRefusal`].
    fn current(&self, principal: Principal) -> Result<Principal, PrincipalRefusal>;
}
