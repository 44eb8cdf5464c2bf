//! The ledger audit.

use cuepoint_domain::authorization::{Action, Principal};

use crate::http::call::ApiCall;
use crate::http::declaration::{ok, operations};
use crate::http::endpoint::authenticated;
use crate::http::operations::views::{AuditData, AuditView};
use crate::http::wire::envelope::ApiResponse;
use crate::http::wire::error::ApiError;

operations! {
    /// Show the ledger audit
    ///
    /// The last audit that this server completed. An audit re-derives every balance from the ledger entries
    /// and compares it with the stored one.
    GET "/api/v1/operator/audit" "showAudit" {
        tag: Operators,
        run: authenticated(Action::ReadAudit, show),
        answers: ok::<AuditData>("The last completed audit of the ledger."),
    }
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let last = call.app.services.ledger_audits.last(&principal)?;
    ApiResponse::new("Audit.", AuditData { audit: AuditView::new(last.as_ref()) })
}
