//! The security log, for staff.

use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::security_log::{EventFilter, EventKind};

use crate::http::call::{self, ApiCall};
use crate::http::declaration::{operations, page};
use crate::http::endpoint::authenticated;
use crate::http::operations::views::NamedSecurityEventView;
use crate::http::wire::envelope::ApiResponse;
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::filters::{self, QueryFilters as _, filters};

operations! {
    /// List the security log
    ///
    /// Newest events first.
    GET "/api/v1/operator/security-log" "listSecurityEvents" {
        tag: Operators,
        run: authenticated(Action::ReadSecurityLog, events),
        answers: page::<NamedSecurityEventView>("A page of events, newest first."),
        filters: EventFilters::DECLARED,
        fails: &[Code::ValidationFailed],
    }
}

filters! {
    /// The filters of the security log.
    struct EventFilters {
        /// Only events about the account with this id.
        user_id: UserId = filters::USER_ID,
        /// Only events of this kind.
        kind: EventKind = filters::EVENT_KIND,
    }
}

async fn events(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let EventFilters { user_id: user, kind } = call.filters()?;
    let paging = call.paging();
    let filter = EventFilter { user, kind };
    let rows = call.app.services.security_log.events(&principal, filter, paging.request()).await?;
    let users = rows.rows.iter().flat_map(|(_, event)| [event.user, event.actor].into_iter().flatten());
    let names = call.names(&principal, users).await?;
    call::page("Security log.", &paging, &rows, |(number, event)| {
        NamedSecurityEventView::new(*number, event, &names)
    })
}
