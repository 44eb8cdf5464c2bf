//! The secrets of endpoints that this server cannot decrypt.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::ids::WebhookEndpointId;
use crate::timestamp::Timestamp;
use crate::webhook::{SealedSecret, WebhookEndpoint};

/// The endpoints that this server does not call, because it cannot decrypt their current secrets.
#[derive(Clone, Default)]
pub(super) struct Undecryptable(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    found: FoundSecrets,
    /// The endpoints with a new secret since the beginning of the last check, which may have read the previous one.
    renewed: BTreeSet<WebhookEndpointId>,
}

/// The secrets with the times at which they were found.
pub(super) type FoundSecrets = BTreeMap<WebhookEndpointId, (SealedSecret, Timestamp)>;

impl Undecryptable {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock still holds a complete state.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn contains(&self, id: WebhookEndpointId) -> bool {
        self.lock().found.contains_key(&id)
    }

    pub(super) fn count(&self) -> usize {
        self.lock().found.len()
    }

    /// The time at which this secret was found.
    pub(super) fn since(&self, endpoint: &WebhookEndpoint) -> Option<Timestamp> {
        let State { found, .. } = &*self.lock();
        found.get(&endpoint.id).filter(|(secret, _)| *secret == endpoint.secrets.current).map(|(_, at)| *at)
    }

    /// Lets this server call the endpoint again, which has a new secret.
    pub(super) fn forget(&self, id: WebhookEndpointId) {
        let mut state = self.lock();
        state.found.remove(&id);
        state.renewed.insert(id);
    }

    /// Begins a check, which will read each endpoint once.
    pub(super) fn begin_check(&self) {
        self.lock().renewed.clear();
    }

    /// Replaces the endpoints with the result of the check, except for those with a new secret since its beginning.
    pub(super) fn replace(&self, mut found: FoundSecrets) {
        let mut state = self.lock();
        found.retain(|id, _| !state.renewed.contains(id));
        state.found = found;
    }
}
