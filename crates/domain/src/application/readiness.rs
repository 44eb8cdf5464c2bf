//! Readiness: whether the service can serve requests.

use std::sync::Arc;

use crate::ports::{ReadinessProbe, Store, Unavailable};

/// The conditions of readiness.
#[derive(Clone)]
pub struct Readiness {
    pub(super) store: Arc<dyn Store>,
    pub(super) probes: Vec<Arc<dyn ReadinessProbe>>,
}

impl Readiness {
    /// Succeeds if all probes pass and the storage can commit. The storage is checked last, since it takes
    /// longest.
    ///
    /// # Errors
    /// [`Unavailable`], whose cause is the first condition that is not met.
    pub async fn check(&self) -> Result<(), Unavailable> {
        for probe in &self.probes {
            probe.ready()?;
        }
        self.store.ready().await
    }
}
