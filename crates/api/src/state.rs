//! The state that all handlers share.

use std::sync::Arc;
use std::time::Duration;

use cuepoint_adapters::clock::ClockRate;
use cuepoint_adapters::networks::Networks;
use cuepoint_adapters::observability::log_throttle::LogThrottle;
use cuepoint_adapters::security::echo_nonces::EchoNonces;
use cuepoint_adapters::security::password_queue::PasswordQueue;
use cuepoint_adapters::service::Service;
use cuepoint_adapters::signed_messages::SigningSecrets;
use cuepoint_domain::money::Currency;
use cuepoint_transport::rate_limits::RateLimits;

/// The networks from which restricted routes are reachable.
#[derive(Clone, Debug)]
pub struct Reachable {
    /// The networks of the metrics route.
    pub metrics: Networks,
    /// The networks of the operator routes.
    pub operators: Networks,
}

/// The settings of the API.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// The public origin of the service, without a trailing slash.
    pub public_url: String,
    /// The currency of the deployment.
    pub currency: Currency,
    /// The networks from which restricted routes are reachable.
    pub reachable: Reachable,
    /// The time within which a request body must arrive.
    pub body_timeout: Duration,
    /// Whether the service has pages for browsers.
    pub has_pages: bool,
    /// The name of the environment: `development`, `test` or `production`.
    pub environment: &'static str,
    /// The rate of the clock of the service.
    pub clock_rate: ClockRate,
}

/// The secrets of provider signatures.
#[derive(Clone, Debug)]
pub struct ProviderSecrets {
    /// The secrets for messages about top-ups.
    pub topups: SigningSecrets,
    /// The secrets for messages about payouts.
    pub payouts: SigningSecrets,
}

/// The state of the API, shared by its handlers on all threads.
pub struct ApiState {
    pub settings: ApiSettings,
    pub service: Arc<Service>,
    pub limits: Arc<RateLimits>,
    /// The passwords that wait to be hashed.
    pub password_queue: Arc<PasswordQueue>,
    /// The nonces of `cuepoint doctor`.
    pub echo_nonces: EchoNonces,
    /// The throttle of the log line about an exhausted daily budget of phone codes.
    pub phone_budget_warning: LogThrottle,
    /// The secrets of provider signatures.
    pub secrets: ProviderSecrets,
    /// The OpenAPI document as JSON, generated from all operations.
    pub openapi_document: fn() -> Result<&'static str, &'static str>,
}

impl ApiState {
    /// The currency of the deployment.
    #[must_use]
    pub const fn currency(&self) -> &Currency {
        &self.settings.currency
    }
}
