//! Readiness: whether the service can serve requests.

use std::sync::Arc;

use thiserror::Error;

use crate::ports::{ReadinessProbe, Store, Unavailable};

/// The conditions of readiness.
#[derive(Clone)]
pub struct Readiness {
    pub(super) store: Arc<dyn Store>,
    pub(super) probes: Vec<Arc<dyn ReadinessProbe>>,
}

/// The first condition of readiness that is not met.
#[derive(Debug, Error)]
#[error("{condition}: {cause}")]
pub struct NotReady {
    /// The name of the condition: `storage`, or the name of a probe.
    pub condition: &'static str,
    pub cause: Unavailable,
}

impl Readiness {
    /// Succeeds if all probes pass and the storage can commit. The storage is checked last, since it takes
    /// longest.
    ///
    /// # Errors
    /// [`NotReady`].
    pub async fn check(&self) -> Result<(), NotReady> {
        for probe in &self.probes {
            probe.ready().map_err(|cause| NotReady { condition: probe.name(), cause })?;
        }
        self.store.ready().await.map_err(|cause| NotReady { condition: "storage", cause })
    }
}
