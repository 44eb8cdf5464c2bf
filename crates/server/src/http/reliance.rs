//! Which calls are refused while this server cannot rely on what it knows: on the revocation list, or on its clock.

use actix_web::http::Method;

use crate::app::App;
use crate::http::route::{Access, Route};
use crate::http::wire::error::ApiError;

/// Refuses a call whose permission may have been revoked, or whose effect would be dated by a wrong clock.
/// Open routes, including refresh and logout, and reads of the caller's own data are not refused.
///
/// # Errors
/// [`Code::Unavailable`](crate::http::wire::error::Code::Unavailable).
pub fn ensure_reliable(route: &Route, app: &App) -> Result<(), ApiError> {
    let changes = route.method != Method::GET;
    let (relies_on_list, relies_on_clock) = match route.access {
        Access::Open => (false, false),
        Access::Provider(_) => (false, changes),
        Access::Principal(action) => (changes || action.is_for_staff(), changes),
    };
    if relies_on_list {
        app.authentication.revocations.ensure_current().map_err(ApiError::unreliable)?;
    }
    if relies_on_clock {
        app.authentication.clock.ensure_agreed().map_err(ApiError::unreliable)?;
    }
    Ok(())
}
