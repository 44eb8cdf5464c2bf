//! Refusal of calls while this server's revocation list or clock is unreliable.

use actix_web::http::Method;
use cuepoint_adapters::security::reliance::Reliance;
use cuepoint_domain::ports::Unavailable;

use crate::declaration::Declaration;
use crate::endpoint::Endpoint;
use crate::state::ApiState;
use crate::wire::error::ApiError;

/// Refuses calls whose permission may have been revoked, or whose effect would carry a wrong timestamp. Open
/// operations, including refresh and logout, and reads of the caller's own data are exempt.
///
/// # Errors
/// [`Code::Unavailable`](crate::wire::error::Code::Unavailable).
pub(crate) fn ensure_reliable(operation: &Declaration, api: &ApiState) -> Result<(), ApiError> {
    let changes = operation.method != Method::GET;
    let reliance = match &operation.run {
        Endpoint::Plain(_) | Endpoint::Open(_) | Endpoint::OpenKeyed(_) => Reliance::NOTHING,
        Endpoint::Provider(..) if changes => Reliance::CLOCK,
        Endpoint::Provider(..) => Reliance::NOTHING,
        Endpoint::Optional(action, _) | Endpoint::Member(action, _) | Endpoint::Command(action, _) => {
            Reliance::of(*action, changes)
        }
    };
    let reliable = api.service.authentication.ensure_reliable(reliance);
    reliable.map_err(|Unavailable(cause)| ApiError::unreliable(cause))
}
