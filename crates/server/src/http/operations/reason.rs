//! The reason that operators give for a change.

use cuepoint_domain::text::Line;

use crate::http::call::ApiCall;
use crate::http::wire::body::body;
use crate::http::wire::error::ApiError;
use crate::http::wire::kinds;

body! {
    /// The reason given by an operator.
    pub struct ReasonBody as "Reason", example: {"reason": "Checked with the owner."} {
        /// Reason, stored with the operator and the time.
        reason: Line = required(kinds::LINE),
    }
}

/// The reason in the body.
///
/// # Errors
/// 422 with the messages of all wrong fields.
pub(super) fn reason(call: &ApiCall) -> Result<Line, ApiError> {
    call.body().map(|ReasonBody { reason }| reason)
}
