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
    /// List accounts
    ///
    /// Newest first, without erased accounts.
    GET "/api/v1/operator/users" "listPeople" {
        tag: Operators,
        run: authenticated(Action::ReadPeople, list),
        answers: page::<PersonView>("A page of accounts, newest first."),
        filters: PeopleFilters::DECLARED,
    }

    /// Show an account
    ///
    /// Erased accounts are answered with a 404.
    GET "/api/v1/operator/users/{id}" "showPerson" {
        tag: Operators,
        run: authenticated(Action::ReadPeople, show),
        answers: ok::<PersonData>("The account."),
    }

    /// Suspend an account
    ///
    /// Suspends another account; a suspended DJ goes offline. The answering server rejects its tokens at
    /// once, other servers within seconds.
    POST "/api/v1/operator/users/{id}/suspend" "suspendPerson" {
        tag: Operators,
        run: command(suspend),
        answers: ok::<PersonData>("The suspended account."),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::LastOperator],
    }

    /// Lift the suspension of an account
    POST "/api/v1/operator/users/{id}/restore" "restorePerson" {
        tag: Operators,
        run: command(restore),
        answers: ok::<PersonData>("The active account."),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::LastOperator],
    }

    /// Assign a role
    ///
    /// Sets the role of another account; `member` removes a role. Tokens in use carry the new role at once on
    /// the answering server, and within seconds on other servers.
    POST "/api/v1/operator/users/{id}/role" "giveRole" {
        tag: Operators,
        run: command(give_role),
        answers: ok::<PersonData>("The account with its new role."),
        body: json::<RoleBody>(),
        fails: &[Code::OwnAccount, Code::LastOperator],
    }
}

body! {
    /// A role to assign.
    pub struct RoleBody as "NewRole", example: {"role": "auditor", "reason": "Checks the books from today."} {
        /// Role; a member has no rights beyond its own account.
        role: Role = required(kinds::ROLE),
        /// Reason, stored with the operator and the time.
        reason: Line = required(kinds::LINE),
    }
}

filters! {
    /// The filters of accounts.
    struct PeopleFilters {
        /// Only the account with this e-mail address, in any letter case.
        email: String = filters::TEXT,
    }
}

view! {
    /// An account, as staff see it.
    pub struct PersonView as Person of (user: &User) {
        /// Id of the account.
        #[id(example = 8)]
        id: i64 = user.id.get(),
        /// Display name.
        #[schema(example = "Grace")]
        name: String = user.name.as_str().to_owned(),
        /// E-mail address.
        #[schema(example = "grace@example.com")]
        email: String = user.email.as_str().to_owned(),
        /// Role.
        #[schema(value_type = names::Role)]
        role: &'static str = user.role.name(),
        /// Whether the account is a DJ's.
        is_dj: bool = user.is_dj(),
        /// Whether the e-mail address is verified.
        email_verified: bool = user.email_verified,
        /// Whether the phone number is verified.
        phone_verified: bool = user.phone_verified,
        /// Time of the suspension; null while the account is active.
        #[timestamp_or_null()]
        suspended_at: Option<WireTimestamp> = user.suspended_at.map(WireTimestamp),
        /// Time of the registration.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(user.created_at),
    }
}

/// An account in an answer to staff.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct PersonData {
    /// The account.
    pub user: PersonView,
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let paging = call.paging();
    let PeopleFilters { email } = call.filters()?;
    let users = call.use_cases().people.list(&principal, email.as_deref(), paging.request()).await?;
    call::page("Users.", &paging, &users, PersonView::new)
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let user = call.use_cases().people.user(&principal, call.id(UserId::new)?).await?;
    ApiResponse::new("User.", PersonData { user: PersonView::new(&user) })
}

async fn suspend(call: CommandCall<ChangeUserStatus>) -> Result<Done<ApiResponse>, ApiError> {
    change(&call, |ReasonBody { reason }| (UserStatusChange::Suspend, reason)).await
}

async fn restore(call: CommandCall<ChangeUserStatus>) -> Result<Done<ApiResponse>, ApiError> {
    change(&call, |ReasonBody { reason }| (UserStatusChange::Restore, reason)).await
}

async fn give_role(call: CommandCall<ChangeUserStatus>) -> Result<Done<ApiResponse>, ApiError> {
    change(&call, |RoleBody { role, reason }| (UserStatusChange::Role(role), reason)).await
}

/// Changes the status or role of the user in the path.
async fn change<B: RequestBody>(
    call: &CommandCall<ChangeUserStatus>,
    input: impl FnOnce(B) -> (UserStatusChange, Line),
) -> Result<Done<ApiResponse>, ApiError> {
    let command = ChangeUserStatus { id: call.id(UserId::new)? };
    let done = call.run(command, || call.body().map(input)).await?;
    done.try_map(|user| ApiResponse::new("User updated.", PersonData { user: PersonView::new(&user) }))
}
