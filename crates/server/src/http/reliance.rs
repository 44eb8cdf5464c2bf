//! Refusal of calls while this server's revocation list or clock is unreliable.

use actix_web::http::Method;

use crate::app::App;
use crate::http::route::{Access, Route};
use crate::http::wire::error::ApiError;

/// Refuses calls whose permission may have been revoked, or whose effect would carry a wrong timestamp. Open
/// routes, including refresh and logout, and reads of the caller's own data are exempt.
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
