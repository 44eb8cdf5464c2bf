//! Retention: the purge of expired data, and the rest of erasures.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::jobs::AbandonedTopups;
use crate::ports::{Store, Unavailable};

/// The number of webhook endpoints in one read.
const ENDPOINTS: u32 = 100;

/// The jobs of retention.
#[derive(Clone)]
pub struct Retention {
    pub(in crate::application) store: Arc<dyn Store>,
    pub(in crate::application) env: Arc<Environment>,
}

impl Retention {
    /// Purges data past its retention; see [`Store::purge_expired`].
    ///
    /// # Errors
    /// [`Unavailable`]; some of it may be done then.
    pub async fn purge_expired(&self) -> Result<(), Unavailable> {
        self.store.purge_expired(self.env.now()).await?;
        self.remove_endpoints_of_erased().await
    }

    /// Removes the webhook endpoints of erased users: servers of an earlier version erase without them.
    async fn remove_endpoints_of_erased(&self) -> Result<(), Unavailable> {
        let mut after = None;
        loop {
            let endpoints = self.store.endpoints_after(after, ENDPOINTS).await?;
            let Some(last) = endpoints.last() else { return Ok(()) };
            after = Some(last.id);
            for endpoint in endpoints {
                let owner = self.store.profile(endpoint.owner).await?;
                if owner.is_none_or(|profile| !profile.user.is_present()) {
                    self.store.remove_endpoint(endpoint.id).await?;
                }
            }
        }
    }

    /// Finishes the erasures that exceeded the time of their request: fails the pending top-ups of their users,
    /// which an erasure waits for, and removes the remaining data.
    ///
    /// # Errors
    /// [`Failure`]; some of them may be finished then.
    pub async fn finish_erasures(&self) -> Result<(), Failure> {
        let failed = AbandonedTopups { env: &self.env }.fail_all().await;
        // A top-up that cannot fail delays no removal of personal data.
        self.store.finish_erasures().await?;
        failed
    }
}
