//! Retention: the purge of expired data, and the rest of erasures.

use std::sync::Arc;

use crate::ports::{Clock, Store, Unavailable};

/// The jobs of retention.
#[derive(Clone)]
pub struct Retention {
    pub(in crate::application) store: Arc<dyn Store>,
    pub(in crate::application) clock: Arc<dyn Clock>,
}

impl Retention {
    /// Purges data past its retention; see [`Store::purge_expired`].
    ///
    /// # Errors
    /// [`Unavailable`]; some of it may be done then.
    pub async fn purge_expired(&self) -> Result<(), Unavailable> {
        self.store.purge_expired(self.clock.now()).await
    }

    /// Finishes the erasures that exceeded the time of their request.
    ///
    /// # Errors
    /// [`Unavailable`]; some of them may be finished then.
    pub async fn finish_erasures(&self) -> Result<(), Unavailable> {
        self.store.finish_erasures().await
    }
}
