//! The ledger audit.

use cuepoint_domain::application::CompletedAudit;
use cuepoint_domain::authorization::{Action, Principal};
use serde::Serialize;
use utoipa::ToSchema;

use crate::call::ApiCall;
use crate::declaration::{ok, operations};
use crate::endpoint::authenticated;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::ApiError;
use cuepoint_views::view;
use cuepoint_views::wire::names;
use cuepoint_views::wire::time::WireTimestamp;

operations! {
    /// Show the ledger audit
    ///
    /// For operators and auditors. The last audit that this server completed. An audit derives every balance from
    /// the ledger entries again, and compares it with the stored one.
    GET "/api/v1/operator/audit" "getAudit" {
        tag: OperatorAudit,
        run: authenticated(Action::ReadAudit, show),
        answers: ok::<AuditData>("The last completed audit of the ledger."),
    }
}

view! {
    /// The last completed audit of the ledger.
    pub struct AuditView as Audit of (last: Option<&CompletedAudit>) {
        let [pending, consistent, broken] = names::AUDIT_STATUSES.map(|(name, _)| name);
        let seen = last.map(|last| last.seen).unwrap_or_default();
        let finding = last.and_then(|last| last.finding.as_ref()).map(ToString::to_string);
        /// `pending` before the first completed audit, then `consistent` or `broken`.
        #[schema(value_type = names::AuditStatus, example = "consistent")]
        status: &'static str = match (last, &finding) {
            (None, _) => pending,
            (Some(_), None) => consistent,
            (Some(_), Some(_)) => broken,
        },
        /// Start of the audit, which is also the time of the audited state; null before the first.
        #[timestamp_or_null(example = "2026-01-31T20:15:00.000000Z")]
        started_at: Option<WireTimestamp> = last.map(|last| WireTimestamp(last.started_at)),
        /// End of the audit; null before the first.
        #[timestamp_or_null(example = "2026-01-31T20:15:01.000000Z")]
        finished_at: Option<WireTimestamp> = last.map(|last| WireTimestamp(last.finished_at)),
        /// Number of checked wallets.
        #[schema(minimum = 0, example = 20)]
        wallets: u64 = seen.wallets,
        /// Number of checked entries.
        #[schema(minimum = 0, example = 140)]
        entries: u64 = seen.entries,
        /// Number of checked postings.
        #[schema(minimum = 0, example = 30)]
        postings: u64 = seen.postings,
        /// Number of checked requests, withdrawals, top-ups, tips and adjustments.
        #[schema(minimum = 0, example = 60)]
        objects: u64 = seen.entities,
        /// The first contradiction; null if there is none.
        #[schema(example = "entry 7 of wallet 12: its hash is wrong")]
        finding: Option<String> = finding,
    }
}

/// The ledger audit in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditData {
    /// The audit.
    pub audit: AuditView,
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let last = call.use_cases().ledger_audits.last(&principal)?;
    ApiResponse::new("Audit.", AuditData { audit: AuditView::new(last.as_ref()) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::audit::{Finding, Summary};
    use cuepoint_domain::ids::UserId;
    use cuepoint_domain::timestamp::Timestamp;

    fn shown(last: Option<&CompletedAudit>) -> String {
        serde_json::to_string(&AuditView::new(last)).unwrap()
    }

    #[test]
    fn the_json_of_a_ledger_audit_is_stable() {
        assert_eq!(
            shown(None),
            concat!(
                r#"{"status":"pending","started_at":null,"finished_at":null,"wallets":0,"entries":0,"#,
                r#""postings":0,"objects":0,"finding":null}"#
            )
        );
        let whole = CompletedAudit {
            started_at: Timestamp::EPOCH,
            finished_at: Timestamp::from_unix_micros(1),
            seen: Summary { wallets: 1, entries: 2, postings: 3, entities: 4 },
            finding: None,
        };
        let rest = concat!(
            r#""started_at":"1970-01-01T00:00:00.000000Z","finished_at":"1970-01-01T00:00:00.000001Z","#,
            r#""wallets":1,"entries":2,"postings":3,"objects":4,"finding":"#
        );
        assert_eq!(shown(Some(&whole)), format!(r#"{{"status":"consistent",{rest}null}}"#));
        let wallet = UserId::new(7).unwrap();
        let broken = CompletedAudit { finding: Some(Finding::Chain { wallet, seq: 3 }), ..whole };
        assert_eq!(
            shown(Some(&broken)),
            format!(r#"{{"status":"broken",{rest}"entry 3 of wallet 7: its hash is wrong"}}"#)
        );
    }
}
