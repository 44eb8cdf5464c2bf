//! What the API and the background jobs share.

use cuepoint_domain::application::UseCases;

use crate::event_hub::EventHub;
use crate::observability::metrics::Metrics;
use crate::security::authentication::Authentication;

/// The service, without the web server.
pub struct Service {
    pub use_cases: UseCases,
    /// Access tokens, the revocation list and the clocks.
    pub authentication: Authentication,
    /// The open streams of events.
    pub event_hub: EventHub,
    pub metrics: Metrics,
}
