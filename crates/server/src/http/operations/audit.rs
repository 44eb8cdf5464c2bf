//! What the self-check of the ledger came to.

use crate::http::call::Call;
use crate::http::operations::views::{Audit, AuditData};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use cuepoint_domain::access::{Action, Caller, Whose};

/// Shows the last self-check of the ledger that this server brought to its end.
#[utoipa::path(
    get,
    path = "/api/v1/operator/audit",
    operation_id = "showAudit",
    tag = "Operators",
    responses((status = 200, description = "The last self-check of the ledger.", body = Success<AuditData>)),
)]
pub async fn show(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    caller.may(Action::ReadAudit, Whose::Others)?;
    let last = call.app.self_check.last();
    Answer::ok("Audit.", AuditData { audit: Audit::new(last.as_ref()) })
}
