//! Retention: the purge of expired data, and the rest of erasures.

use std::sync::Arc;

use time::Duration;

use crate::application::environment::Environment;
use crate::application::error::Failure;
use crate::application::jobs::AbandonedTopups;
use crate::ports::{Store, Unavailable, UnusedGuests};

/// The number of webhook endpoints in one read.
const ENDPOINTS: u32 = 100;

/// The number of guest accounts in one read.
const GUESTS: u32 = 500;
/// The time after its last use at which an unused guest account is deleted.
const UNUSED_FOR: Duration = Duration::hours(24);

/// The result of deleting unused guest accounts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeletedGuests {
    /// The number of deleted accounts.
    pub deleted: u64,
    /// The number of accounts that were used meanwhile.
    pub kept: u64,
    /// The number of accounts whose deletion failed. The next run tries again.
    pub failed: u64,
}

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

    /// Deletes the guest accounts that were not used for a day and that nothing names.
    ///
    /// # Errors
    /// [`Unavailable`]; some may be deleted then.
    pub async fn delete_unused_guests(&self) -> Result<DeletedGuests, Unavailable> {
        let before = self.env.now().minus(UNUSED_FOR);
        let (mut guests, mut after) = (DeletedGuests::default(), None);
        loop {
            let UnusedGuests { unused, last } = self.env.people.unused_guests(before, after, GUESTS).await?;
            if last.is_none() {
                return Ok(guests);
            }
            after = last;
            for guest in unused {
                let count = match self.env.people.delete_guest(guest, before).await {
                    Ok(true) => &mut guests.deleted,
                    Ok(false) => &mut guests.kept,
                    Err(Unavailable(_)) => &mut guests.failed,
                };
                *count = count.saturating_add(1);
            }
        }
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
