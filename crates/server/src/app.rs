//! What every handler shares.

use std::sync::Arc;
use std::time::Duration;

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Store, Unavailable};
use cuepoint_domain::service::UseCases;
use tokio::time::{Instant, timeout_at};

use crate::adapters::clock::ServiceClock;
use crate::adapters::security::revocations::Revocations;
use crate::adapters::security::tokens::AccessTokens;
use crate::adapters::webhooks::SigningSecrets;
use crate::config::Reachable;
use crate::http::in_flight::InFlight;
use crate::http::transport::networks::Networks;
use crate::http::transport::rate_limits::RateLimits;
use crate::jobs::ledger_audit::SelfCheck;
use crate::jobs::queue::Errands;
use crate::observability::hourly::Hourly;
use crate::observability::metrics::Metrics;

/// What the handlers have to know of the configuration.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// The origin under which clients reach the service, without a slash at its end.
    pub public_url: String,
    /// The one currency of the deployment.
    pub currency: Currency,
    /// The web pages whose scripts may call the API.
    pub cors_allowed_origins: Vec<String>,
    /// The proxies whose word on where a call comes from is taken.
    pub trusted_proxies: Networks,
    /// From where some routes can be reached.
    pub reachable: Reachable,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
}

/// What providers sign their messages with.
#[derive(Clone, Debug)]
pub struct ProviderSecrets {
    /// Those about top-ups.
    pub topups: SigningSecrets,
    /// Those about payouts.
    pub payouts: SigningSecrets,
}

/// The service, as its handlers see it; shared by all threads.
pub struct App {
    /// What they have to know of the configuration.
    pub settings: ApiSettings,
    /// What they do.
    pub services: UseCases,
    /// Who calls them.
    pub tokens: AccessTokens,
    /// What overrules that.
    pub revocations: Revocations,
    /// What time it is.
    pub clock: Arc<ServiceClock>,
    /// Where everything is kept; to ask whether it is ready.
    pub store: Arc<dyn Store>,
    /// What they leave to be done later.
    pub errands: Errands,
    /// The keyed commands among what they do now.
    pub in_flight: InFlight,
    /// How often they are called, and may be.
    pub limits: RateLimits,
    /// Whether the log says that no more codes are sent to phones.
    pub phone_budget_warning: Hourly,
    /// What providers sign their messages with.
    pub secrets: ProviderSecrets,
    /// What the last self-check of the ledger came to.
    pub self_check: SelfCheck,
    /// What they measure.
    pub metrics: Metrics,
}

impl App {
    /// Reads the revocation list and compares the clocks; a failure is logged.
    pub async fn refresh_revocations(&self, until: Instant) {
        match timeout_at(until, self.revocations.refresh(&*self.store, &self.clock)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the revocation list was not refreshed"),
            Err(_) => tracing::warn!("the revocation list was not refreshed in time"),
        }
    }

    /// That plans can be committed, the revocation list be read, and the clocks agree.
    ///
    /// # Errors
    /// [`Unavailable`], which says what is wrong.
    pub async fn ready(&self) -> Result<(), Unavailable> {
        self.clock.ensure_agreed().map_err(Unavailable::new)?;
        if !self.revocations.can_be_read() {
            return Err(Unavailable::new("the revocation list cannot be read"));
        }
        self.store.ready().await
    }
}
