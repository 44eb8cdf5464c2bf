//! What every handler shares.

use std::sync::Arc;

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Clock, Store};
use cuepoint_domain::service::UseCases;

use crate::http::in_flight::InFlight;
use crate::metrics::Metrics;
use crate::security::tokens::AccessTokens;
use crate::self_check::SelfCheck;
use crate::webhooks::SigningSecrets;

/// What the handlers have to know of the configuration.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// The origin under which clients reach the service, without a slash at its end.
    pub public_url: String,
    /// The one currency of the deployment.
    pub currency: Currency,
    /// The web pages whose scripts may call the API.
    pub cors_allowed_origins: Vec<String>,
    /// Whether too many calls are refused.
    pub rate_limits: bool,
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
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// Where everything is kept; to ask whether it is ready.
    pub store: Arc<dyn Store>,
    /// The keyed commands among what they do now.
    pub in_flight: InFlight,
    /// What providers sign their messages with.
    pub secrets: ProviderSecrets,
    /// What the last self-check of the ledger came to.
    pub self_check: SelfCheck,
    /// What they measure.
    pub metrics: Metrics,
}
