//! The state that handlers and jobs share.

use std::sync::Arc;
use std::time::Duration;

use cuepoint_domain::application::UseCases;
use cuepoint_domain::money::Currency;
use uuid::Uuid;

use crate::adapters::event_hub::EventHub;
use crate::adapters::job_queue::BoundedJobQueue;
use crate::adapters::security::authentication::Authentication;
use crate::adapters::security::keys::KeysInForce;
use crate::adapters::security::password_queue::PasswordQueue;
use crate::adapters::webhooks::SigningSecrets;
use crate::config::Reachable;
use crate::http::transport::rate_limits::RateLimits;
use crate::networks::Networks;
use crate::observability::log_throttle::LogThrottle;
use crate::observability::metrics::Metrics;

/// The settings of the API.
#[derive(Clone, Debug)]
pub struct ApiSettings {
    /// The public origin of the service, without a trailing slash.
    pub public_url: String,
    /// The currency of the deployment.
    pub currency: Currency,
    /// The origins of web pages that may call the API from scripts.
    pub cors_allowed_origins: Vec<String>,
    /// The proxies whose `X-Forwarded-For` is trusted.
    pub trusted_proxies: Networks,
    /// The networks from which restricted routes are reachable.
    pub reachable: Reachable,
    /// The time within which a request body must arrive.
    pub body_timeout: Duration,
}

/// The secrets of provider signatures.
#[derive(Clone, Debug)]
pub struct ProviderSecrets {
    /// The secrets for messages about top-ups.
    pub topups: SigningSecrets,
    /// The secrets for messages about payouts.
    pub payouts: SigningSecrets,
}

/// The state of the service, shared by handlers and jobs on all threads.
pub struct App {
    /// The settings of the API.
    pub settings: ApiSettings,
    /// The use cases.
    pub services: UseCases,
    /// Access tokens, the revocation list and the clocks.
    pub authentication: Authentication,
    /// The keys that encrypt the secrets of webhook endpoints.
    pub webhook_keys: KeysInForce,
    /// The queue of background jobs.
    pub job_queue: Arc<BoundedJobQueue>,
    /// The open streams of events.
    pub event_hub: EventHub,
    /// The rate limits.
    pub limits: RateLimits,
    /// The passwords that wait to be hashed.
    pub password_queue: Arc<PasswordQueue>,
    /// The throttle of the log line about an exhausted daily budget of phone codes.
    pub phone_budget_warning: LogThrottle,
    /// The secrets of provider signatures.
    pub secrets: ProviderSecrets,
    /// The metrics.
    pub metrics: Metrics,
    /// The source of request ids.
    pub new_request_id: fn() -> Uuid,
    /// The OpenAPI document as JSON, generated from all operations.
    pub openapi_document: fn() -> Result<&'static str, &'static str>,
}
