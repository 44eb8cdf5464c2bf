//! Checks of the secrets of endpoints. Each secret is encrypted with the current key. A secret that no key decrypts
//! is lost.

use crate::application::webhooks::Deliveries;
use crate::application::webhooks::undecryptable::FoundSecrets;
use crate::ids::WebhookEndpointId;
use crate::ports::{EndpointUpdate, Unavailable};
use crate::timestamp::Timestamp;
use crate::webhook::{
    EndpointChange, EndpointSecrets, MissingKeys, SecretKeys, UndecryptableSecret, WebhookEndpoint,
};

/// The number of endpoints in one read.
const BATCH: u32 = 500;

/// What happens to endpoints if this server lacks the webhook key of their secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WithoutKeys {
    /// They wait: another server may have the key.
    Wait,
    /// They are disabled: the operator has declared that the key is lost.
    Disable,
}

/// The result of a check of all secrets.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CheckedSecrets {
    /// The number of endpoints with a secret that was re-encrypted with the current key.
    pub resealed: u64,
    /// The endpoints with a current secret that this server cannot decrypt, without the results of previous checks.
    pub found: Vec<WebhookEndpointId>,
    /// The endpoints that were disabled because their secrets are lost.
    pub lost: Vec<WebhookEndpointId>,
}

impl Deliveries {
    /// Encrypts the secrets of all endpoints with the current key, so that previous keys can be removed. Disables the
    /// endpoints with lost secrets, and notifies their owners. A secret that needs a signing key is lost after
    /// [`EndpointSecrets::LOST_AFTER`], because any server with the key would have re-encrypted it by then.
    ///
    /// # Errors
    /// [`Unavailable`]. The rest is checked by the next call.
    pub async fn check_secrets(&self, without_keys: WithoutKeys) -> Result<CheckedSecrets, Unavailable> {
        let mut checked = CheckedSecrets::default();
        let done = self.check_all(without_keys, &mut checked).await;
        if !checked.lost.is_empty() {
            let (deliveries, lost) = (self.clone(), checked.lost.clone());
            // In a separate task, because e-mails may take long.
            self.env.ports.tasks.spawn(Box::pin(async move {
                for endpoint in lost {
                    drop(deliveries.notify_disabled(endpoint).await);
                }
            }));
        }
        done.map(|()| checked)
    }

    async fn check_all(
        &self,
        without_keys: WithoutKeys,
        checked: &mut CheckedSecrets,
    ) -> Result<(), Unavailable> {
        self.undecryptable.begin_check();
        let mut undecryptable = FoundSecrets::new();
        let mut after = None;
        loop {
            let endpoints = self.env.endpoints.endpoints_after(after, BATCH).await?;
            let Some(last) = endpoints.last() else { break };
            after = Some(last.id);
            for endpoint in endpoints.into_iter().filter(|endpoint| !endpoint.has_lost_secret()) {
                if let Some(since) = self.check(&endpoint, without_keys, checked).await? {
                    undecryptable.insert(endpoint.id, (endpoint.secrets.current, since));
                }
            }
        }
        self.undecryptable.replace(undecryptable);
        Ok(())
    }

    /// Checks the secrets of an endpoint. Returns the time when they were first found undecryptable, unless they are
    /// lost.
    async fn check(
        &self,
        endpoint: &WebhookEndpoint,
        without_keys: WithoutKeys,
        checked: &mut CheckedSecrets,
    ) -> Result<Option<Timestamp>, Unavailable> {
        let (WebhookEndpoint { id, secrets, .. }, now) = (endpoint, self.env.now());
        let problem = match self.env.ports.webhooks.reseal(*id, secrets, now) {
            Ok(None) => return Ok(None),
            Ok(Some(resealed)) => {
                let change = EndpointChange::Reseal { expected: secrets.clone(), resealed };
                self.env.endpoints.change_endpoint(*id, &change).await?;
                checked.resealed = checked.resealed.saturating_add(1);
                return Ok(None);
            }
            Err(problem) => problem,
        };
        let since = self.undecryptable.since(endpoint);
        if self.is_lost(&problem, since, without_keys) && self.lose(endpoint, now).await? {
            checked.lost.push(*id);
            return Ok(None);
        }
        if since.is_none() {
            checked.found.push(*id);
        }
        Ok(Some(since.unwrap_or(now)))
    }

    fn is_lost(
        &self,
        problem: &UndecryptableSecret,
        since: Option<Timestamp>,
        without_keys: WithoutKeys,
    ) -> bool {
        match (without_keys, problem.keys) {
            (WithoutKeys::Disable, _) => true,
            (WithoutKeys::Wait, SecretKeys::Webhooks) => false,
            (WithoutKeys::Wait, SecretKeys::Signing) => {
                since.is_some_and(|since| self.env.now().since(since) >= EndpointSecrets::LOST_AFTER)
            }
        }
    }

    /// Disables an endpoint with a lost secret. Returns whether this call disabled it, so that its owner is notified
    /// once.
    async fn lose(&self, endpoint: &WebhookEndpoint, at: Timestamp) -> Result<bool, Unavailable> {
        let change = EndpointChange::LoseSecret { lost: endpoint.secrets.current.clone(), at };
        let changed = self.env.endpoints.change_endpoint(endpoint.id, &change).await?;
        Ok(matches!(changed, EndpointUpdate::Done { before, after } if before != after))
    }

    /// Takes turns for an endpoint again, after its secret was rotated on this server.
    pub(in crate::application) fn note_new_secret(&self, id: WebhookEndpointId) {
        self.undecryptable.forget(id);
    }

    /// The keys that this server lacks for the current secrets of endpoints, except the lost ones.
    pub async fn missing_keys(&self) -> Result<MissingKeys, Unavailable> {
        let (mut after, mut missing) = (None, MissingKeys::new());
        loop {
            let endpoints = self.env.endpoints.endpoints_after(after, BATCH).await?;
            let Some(last) = endpoints.last() else { return Ok(missing) };
            after = Some(last.id);
            for endpoint in endpoints.into_iter().filter(|endpoint| !endpoint.has_lost_secret()) {
                let current = &endpoint.secrets.current;
                if let Err(problem) = self.env.ports.webhooks.check_secret(endpoint.id, current) {
                    let number = missing.entry(problem).or_default();
                    *number = number.saturating_add(1);
                }
            }
        }
    }
}
