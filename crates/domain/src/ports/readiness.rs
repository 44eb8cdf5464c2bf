//! Readiness of what the service needs beside its storage.

use crate::ports::Unavailable;

/// A condition of readiness, such as agreeing clocks. It reads memory only.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait ReadinessProbe: Send + Sync {
    /// Whether the condition is met now.
    ///
    /// # Errors
    /// [`Unavailable`], whose cause names the condition.
    fn ready(&self) -> Result<(), Unavailable>;
}
