//! The security log, for staff.

use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::security_log::{self, SecurityEventFilter, SecurityEventKind};

use crate::call::{self, ApiCall};
use crate::declaration::{operations, page};
use crate::endpoint::authenticated;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use cuepoint_views::security_event::SecurityEventView;
use cuepoint_views::user_names::UserNames;
use cuepoint_views::view;

operations! {
    /// List the security log
    ///
    /// For operators and auditors. The newest event comes first.
    GET "/api/v1/operator/security-log" "listSecurityEvents" {
        tag: OperatorAudit,
        run: authenticated(Action::ReadSecurityLog, events),
        answers: page::<SecurityEventDetailsView>("A page of events, newest first."),
        filters: EventFilters::DECLARED,
        fails: &[Code::ValidationFailed],
    }
}

filters! {
    /// The filters of the security log.
    struct EventFilters {
        /// Only events about the user with this id.
        user_id: UserId = filters::USER_ID,
        /// Only events of this kind.
        kind: SecurityEventKind = filters::EVENT_KIND,
    }
}

view! {
    /// An event of the security log, with names.
    pub struct SecurityEventDetailsView as SecurityEventDetails of (
        number: i64,
        event: &security_log::SecurityEvent,
        names: &UserNames,
    ) {
        /// The event.
        #[serde(flatten)]
        event: SecurityEventView = SecurityEventView::new(number, event),
        /// Name of the affected user; null if unknown or erased.
        #[schema(example = "Grace")]
        user_name: Option<String> = names.of(event.user),
        /// Name of the user who acted; null without authentication and for an erased user.
        #[schema(example = "Ada")]
        actor_name: Option<String> = names.of(event.actor),
    }
}

async fn events(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let EventFilters { user_id: user, kind } = call.filters()?;
    let paging = call.paging();
    let filter = SecurityEventFilter { user, kind };
    let rows = call.use_cases().security_log.events(&principal, filter, paging.request()).await?;
    let users = rows.rows.iter().flat_map(|(_, event)| [event.user, event.actor].into_iter().flatten());
    let names = call.names(&principal, users).await?;
    call::page("Security log.", &paging, &rows, |(number, event)| {
        SecurityEventDetailsView::new(*number, event, &names)
    })
}
