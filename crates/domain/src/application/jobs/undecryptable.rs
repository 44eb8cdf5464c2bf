//! The secrets of endpoints that this server cannot decrypt.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ids::WebhookEndpointId;
use crate::timestamp::Timestamp;
use crate::webhook::{SealedSecret, WebhookEndpoint};

/// The endpoints that this server does not call, because it cannot decrypt their current secrets.
#[derive(Clone, Default)]
pub(super) struct Undecryptable(Arc<Mutex<FoundSecrets>>);

/// The secrets with the times at which they were found.
pub(super) type FoundSecrets = BTreeMap<WebhookEndpointId, (SealedSecret, Timestamp)>;

impl Undecryptable {
    fn lock(&self) -> MutexGuard<'_, FoundSecrets> {
        // A poisoned lock still holds a complete map.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn contains(&self, id: WebhookEndpointId) -> bool {
        self.lock().contains_key(&id)
    }

    pub(super) fn count(&self) -> usize {
        self.lock().len()
    }

    /// The time at which this secret was found.
    pub(super) fn since(&self, endpoint: &WebhookEndpoint) -> Option<Timestamp> {
        let found = self.lock();
        found.get(&endpoint.id).filter(|(secret, _)| *secret == endpoint.secrets.current).map(|(_, at)| *at)
    }

    /// Lets this server call the endpoint again.
    pub(super) fn forget(&self, id: WebhookEndpointId) {
        self.lock().remove(&id);
    }

    /// Replaces the endpoints with the result of a check.
    pub(super) fn replace(&self, found: FoundSecrets) {
        *self.lock() = found;
    }
}
