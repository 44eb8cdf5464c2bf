//! Readiness of dependencies other than the storage.

use crate::ports::Unavailable;

/// A condition of readiness, such as clock agreement. It reads memory only.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait ReadinessProbe: Send + Sync {
    /// The name of the condition, such as `clock`.
    fn name(&self) -> &'static str;

    /// Succeeds if the condition is met now.
    ///
    /// # Errors
    /// [`Unavailable`], whose cause names the condition.
    fn ready(&self) -> Result<(), Unavailable>;
}
