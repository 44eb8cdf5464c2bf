//! The reason that operators give for a change.

use cuepoint_domain::text::Line;

use crate::call::ApiCall;
use crate::wire::body::body;
use crate::wire::error::ApiError;
use crate::wire::kinds;

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
pub(in crate::operations) fn reason(call: &ApiCall) -> Result<Line, ApiError> {
    call.body().map(|ReasonBody { reason }| reason)
}
