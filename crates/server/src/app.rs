//! The state that handlers and jobs share.

use std::sync::Arc;
use std::time::Duration;

use cuepoint_domain::application::UseCases;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::Store;

use crate::adapters::job_queue::BoundedJobQueue;
use crate::adapters::security::authentication::Authentication;
use crate::adapters::webhooks::SigningSecrets;
use crate::config::Reachable;
use crate::http::transport::networks::Networks;
use crate::http::transport::rate_limits::RateLimits;
use crate::observability::hourly::Hourly;
use crate::observability::metrics::Metrics;

/// The settings of the API.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// The origin under which clients reach the service, without a slash at its end.
    pub public_url: String,
    /// The one currency of the deployment.
    pub currency: Currency,
    /// The web pages whose scripts may call the API.
    pub cors_allowed_origins: Vec<String>,
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Networks,
    /// The networks that some routes can be reached from.
    pub reachable: Reachable,
    /// How long a body may take to arrive.
    pub body_timeout: Duration,
}

/// The secrets of the providers' signatures.
#[derive(Clone, Debug)]
pub struct ProviderSecrets {
    /// Those about top-ups.
    pub topups: SigningSecrets,
    /// Those about payouts.
    pub payouts: SigningSecrets,
}

/// The service, as its handlers and jobs see it; shared by all threads.
pub struct App {
    /// The settings of the API.
    pub settings: ApiSettings,
    /// The use cases.
    pub services: UseCases,
    /// Access tokens, the revocation list and the clocks.
    pub authentication: Authentication,
    /// The storage, for jobs of its own.
    pub store: Arc<dyn Store>,
    /// The queue of background jobs.
    pub job_queue: Arc<BoundedJobQueue>,
    /// The rate limits.
    pub limits: RateLimits,
    /// The throttle of the log line that the daily budget of codes by phone is spent.
    pub phone_budget_warning: Hourly,
    /// The secrets of the providers' signatures.
    pub secrets: ProviderSecrets,
    /// The metrics.
    pub metrics: Metrics,
    /// The OpenAPI document as JSON, which is derived from all operations.
    pub openapi_document: fn() -> Result<&'static str, &'static str>,
}
