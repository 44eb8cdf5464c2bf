//! Users, for staff: their status and role.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::ChangeUserStatus;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::text::Line;
use cuepoint_domain::user::{Role, User, UserStatusChange};
use serde::Serialize;
use utoipa::ToSchema;

use crate::call::{self, ApiCall};
use crate::command_call::CommandCall;
use crate::declaration::{json, ok, operations, page};
use crate::endpoint::{authenticated, command};
use crate::operations::staff::reason::ReasonBody;
use crate::wire::body::{RequestBody, body};
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use crate::wire::kinds;
use cuepoint_views::view;
use cuepoint_views::wire::names;
use cuepoint_views::wire::time::WireTimestamp;

operations! {
    /// List users
    ///
    /// For operators and auditors. The newest user comes first. Erased users are not listed.
    GET "/api/v1/operator/users" "listUsers" {
        tag: OperatorUsers,
        run: authenticated(Action::ReadPeople, list),
        answers: page::<UserSummaryView>("A page of users, newest first."),
        filters: PeopleFilters::DECLARED,
    }

    /// Show a user
    ///
    /// For operators and auditors. An erased user returns 404 `not_found`.
    GET "/api/v1/operator/users/{id}" "getUser" {
        tag: OperatorUsers,
        run: authenticated(Action::ReadPeople, show),
        answers: ok::<UserSummaryData>("The user."),
    }

    /// Suspend a user
    ///
    /// For operators. Ends all sessions of a member, and takes a DJ offline. Every request of a suspended user
    /// returns 403 `account_suspended`, and so do a refresh and a login with the right password. This server
    /// applies it immediately, and other servers within two seconds.
    ///
    /// - 403 `own_account`: the user is the operator.
    /// - 409 `last_operator`: the user is the last active operator.
    POST "/api/v1/operator/users/{id}/suspend" "suspendUser" {
        tag: OperatorUsers,
        run: command(suspend),
        answers: ok::<UserSummaryData>("The suspended user.")
            .showing(&[("suspended_at", "2026-01-31T20:15:00.000000Z")]),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::LastOperator],
    }

    /// Lift the suspension of a user
    ///
    /// For operators. The user can log in again. Sessions and the status `online` that ended with the suspension do
    /// not return. The session of a guest account works again. The operator's own id returns 403 `own_account`.
    POST "/api/v1/operator/users/{id}/restore" "unsuspendUser" {
        tag: OperatorUsers,
        run: command(restore),
        answers: ok::<UserSummaryData>("The active user."),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::LastOperator],
    }

    /// Set the role of a user
    ///
    /// For operators. Issued tokens have the new role immediately at this server, and within two seconds at others.
    /// All servers immediately refuse changes by a suspended or demoted operator (403 `insufficient_scope`), except
    /// changes of webhook endpoints.
    ///
    /// - 403 `own_account`: the user is the operator.
    /// - 409 `conflict`: the user is a guest account. Only its owner can make it a member, by claiming it.
    /// - 409 `last_operator`: the user is the last active operator, and would be demoted.
    POST "/api/v1/operator/users/{id}/role" "setUserRole" {
        tag: OperatorUsers,
        run: command(give_role),
        answers: ok::<UserSummaryData>("The user with the new role.")
            .showing(&[("role", "auditor")]),
        body: json::<RoleChangeBody>(),
        fails: &[Code::OwnAccount, Code::LastOperator],
    }
}

body! {
    /// A role to assign.
    pub struct RoleChangeBody as "RoleChange", example: {"role": "auditor", "reason": "Checks the books from today."} {
        /// Role. A `member` is not staff.
        role: Role = required(kinds::ROLE),
        /// Reason, stored with the operator and the time.
        reason: Line = required(kinds::LINE),
    }
}

filters! {
    /// The filters of users.
    struct PeopleFilters {
        /// Only the user with this whole e-mail address, in any letter case.
        email: String = filters::TEXT,
    }
}

view! {
    /// A user, as staff see them.
    pub struct UserSummaryView as UserSummary of (user: &User) {
        /// Id of the user.
        #[id(example = 8)]
        id: i64 = user.id.get(),
        /// Display name.
        #[schema(example = "Grace")]
        name: String = user.name.as_str().to_owned(),
        /// E-mail address.
        #[schema(example = "grace@example.com")]
        email: String = user.shown_email(),
        /// Role.
        #[schema(value_type = names::Role)]
        role: &'static str = user.role.name(),
        /// Whether the user is a DJ.
        #[schema(example = false)]
        is_dj: bool = user.is_dj(),
        /// Whether the e-mail address is verified.
        email_verified: bool = user.email_verified,
        /// Whether the phone number is verified.
        #[schema(example = false)]
        phone_verified: bool = user.phone_verified,
        /// Time of the suspension; null for an active user.
        #[timestamp_or_null(example = json!(null))]
        suspended_at: Option<WireTimestamp> = user.suspended_at.map(WireTimestamp),
        /// Time of the registration.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(user.created_at),
    }
}

/// A user in an answer to staff.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UserSummaryData {
    /// The user.
    pub user: UserSummaryView,
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let paging = call.paging();
    let PeopleFilters { email } = call.filters()?;
    let users = call.use_cases().people.list(&principal, email.as_deref(), paging.request()).await?;
    call::page("Users.", &paging, &users, UserSummaryView::new)
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let user = call.use_cases().people.user(&principal, call.id(UserId::new)?).await?;
    ApiResponse::new("User.", UserSummaryData { user: UserSummaryView::new(&user) })
}

async fn suspend(call: CommandCall<ChangeUserStatus>) -> Result<Done<ApiResponse>, ApiError> {
    change(&call, |ReasonBody { reason }| (UserStatusChange::Suspend, reason)).await
}

async fn restore(call: CommandCall<ChangeUserStatus>) -> Result<Done<ApiResponse>, ApiError> {
    change(&call, |ReasonBody { reason }| (UserStatusChange::Restore, reason)).await
}

async fn give_role(call: CommandCall<ChangeUserStatus>) -> Result<Done<ApiResponse>, ApiError> {
    change(&call, |RoleChangeBody { role, reason }| (UserStatusChange::Role(role), reason)).await
}

/// Changes the status or role of the user in the path.
async fn change<B: RequestBody>(
    call: &CommandCall<ChangeUserStatus>,
    input: impl FnOnce(B) -> (UserStatusChange, Line),
) -> Result<Done<ApiResponse>, ApiError> {
    let command = ChangeUserStatus { id: call.id(UserId::new)? };
    let done = call.run(command, || call.body().map(input)).await?;
    done.try_map(|user| {
        ApiResponse::new("User updated.", UserSummaryData { user: UserSummaryView::new(&user) })
    })
}
