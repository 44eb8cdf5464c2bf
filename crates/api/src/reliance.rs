//! Refusal of calls while this server's revocation list or clock is unreliable.

use actix_web::http::Method;

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
    let (relies_on_list, relies_on_clock) = match &operation.run {
        Endpoint::Plain(_) | Endpoint::Open(_) | Endpoint::OpenKeyed(_) => (false, false),
        Endpoint::Provider(..) => (false, changes),
        Endpoint::Optional(action, _) | Endpoint::Member(action, _) | Endpoint::Command(action, _) => {
            (changes || action.is_for_staff(), changes)
        }
    };
    if relies_on_list {
        api.service.authentication.revocations.ensure_current().map_err(ApiError::unreliable)?;
    }
    if relies_on_clock {
        api.service.authentication.clock.ensure_agreed().map_err(ApiError::unreliable)?;
    }
    Ok(())
}
