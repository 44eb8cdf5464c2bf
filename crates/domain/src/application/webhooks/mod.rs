//! Webhooks: the endpoints to which the events of a feed are sent.
//!
//! - [`Webhooks`]: endpoints are listed, created, changed, tested and replayed; `requests` has the inputs and
//!   refusals, `performed_change` what is recorded of a change, `running_tests` the tests under way;
//! - [`Deliveries`]: the turns of endpoints; `delivery_turn` is one turn;
//! - `endpoint_secrets`: the check of all secrets, and their re-encryption; `undecryptable`: those without a key;
//! - [`EndpointNotices`]: messages to the users who own an endpoint.

mod deliveries;
mod delivery_turn;
mod endpoint_notices;
mod endpoint_secrets;
mod endpoints;
mod performed_change;
mod requests;
mod running_tests;
mod undecryptable;

pub use deliveries::Deliveries;
pub use delivery_turn::TurnSummary;
pub(super) use endpoint_notices::EndpointNotices;
pub use endpoint_secrets::{CheckedSecrets, WithoutKeys};
pub use endpoints::Webhooks;
pub use requests::{EndpointRequest, ReplayRequest, WebhookRefusal};
pub(super) use running_tests::RunningTests;
pub use running_tests::TestRefusal;
