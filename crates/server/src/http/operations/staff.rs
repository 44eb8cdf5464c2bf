//! What staff does about people, and the security log.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ledger::{Outcome, Receipt};
use cuepoint_domain::people::StandingChange;
use cuepoint_domain::ports::Applied;
use cuepoint_domain::security_log::{EventFilter, EventKind};

use crate::app::App;
use crate::http::call::{self, Call};
use crate::http::openapi::bodies::{NewRole, PageQuery, Reason};
use crate::http::operations::views::{Person, PersonData, SecurityEvent};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::fields::Fields;
use crate::http::wire::names;
use crate::http::wire::page::Page;
use crate::http::wire::query::Filters;
use crate::http::wire::{messages, values};

/// Lists people, but for those who were erased.
#[utoipa::path(
    get,
    path = "/api/v1/operator/users",
    operation_id = "listPeople",
    tag = "Operators",
    params(
        PageQuery,
        ("email" = Option<String>, Query, description = "Only who has this address, in any letter case."),
    ),
    responses((status = 200, description = "A page of people, newest first.", body = Success<Page<Person>>)),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let paging = call.paging(&["email"]);
    let people = call.app.services.staff.people(&caller, call.query.get("email"), paging.request()).await?;
    call::page("People.", &paging, &people, Person::new)
}

/// Shows somebody who was not erased.
#[utoipa::path(
    get,
    path = "/api/v1/operator/users/{id}",
    operation_id = "showPerson",
    tag = "Operators",
    responses((status = 200, description = "The person.", body = Success<PersonData>)),
)]
pub async fn show(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let user = call.app.services.staff.person(&caller, call.id(UserId::new)?).await?;
    Answer::ok("Person.", PersonData { user: Person::new(&user) })
}

/// Shuts somebody else out; a DJ takes no requests any more.
///
/// Their tokens are refused at once by this server and within seconds by others.
#[utoipa::path(
    post,
    path = "/api/v1/operator/users/{id}/suspend",
    operation_id = "suspendPerson",
    tag = "Operators",
    request_body = Reason,
    responses((status = 200, description = "They are shut out.", body = Success<PersonData>)),
)]
pub async fn suspend(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    change(&call, &caller, |_| Some(StandingChange::Suspend)).await
}

/// Lets somebody else in again.
#[utoipa::path(
    post,
    path = "/api/v1/operator/users/{id}/restore",
    operation_id = "restorePerson",
    tag = "Operators",
    request_body = Reason,
    responses((status = 200, description = "They may log in.", body = Success<PersonData>)),
)]
pub async fn restore(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    change(&call, &caller, |_| Some(StandingChange::Restore)).await
}

/// Gives somebody else a role, or takes it away.
///
/// Tokens that are out carry it at once on this server and within seconds on others.
#[utoipa::path(
    post,
    path = "/api/v1/operator/users/{id}/role",
    operation_id = "giveRole",
    tag = "Operators",
    request_body = NewRole,
    responses((status = 200, description = "They have this role.", body = Success<PersonData>)),
)]
pub async fn give_role(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    change(&call, &caller, |fields| fields.required("role", values::role).map(StandingChange::Role)).await
}

/// What a person is shown as whose standing was changed.
pub fn changed(_: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let Outcome::Profile(user, _) = &receipt.outcome else {
        return Err(ApiError::internal("a change of a person's standing came to something else"));
    };
    Answer::ok("Person updated.", PersonData { user: Person::new(user) })
}

/// Lists what the security log has.
#[utoipa::path(
    get,
    path = "/api/v1/operator/security-log",
    operation_id = "listSecurityEvents",
    tag = "Operators",
    params(
        PageQuery,
        ("user_id" = Option<i64>, Query, minimum = 1, description = "Only what is about this person."),
        ("kind" = Option<names::EventKind>, Query, description = "Only what is of this kind."),
    ),
    responses((
        status = 200,
        description = "A page of events, those noted last first.",
        body = Success<Page<SecurityEvent>>,
    )),
)]
pub async fn events(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let mut filters = Filters::of(&call.query);
    let user = filters.user("user_id");
    let kind = filters.read("kind", EventKind::named, messages::selected);
    filters.complete()?;
    let paging = call.paging(&["user_id", "kind"]);
    let filter = EventFilter { user, kind };
    let rows = call.app.services.staff.events(&caller, filter, paging.request()).await?;
    call::page("Security log.", &paging, &rows, |(number, event)| SecurityEvent::new(*number, event))
}

/// Changes how a person stands, as the body's fields say.
async fn change(
    call: &Call,
    caller: &Caller,
    read: impl FnOnce(&mut Fields<'_>) -> Option<StandingChange>,
) -> Result<Applied, ApiError> {
    let staff = &call.app.services.staff;
    let user = staff.managed(caller, call.id(UserId::new)?).await?;
    let mut fields = call.fields();
    let change = read(&mut fields);
    let reason = fields.required("reason", values::line);
    let (change, reason) = fields.complete(|| change.zip(reason))?;
    let applied = staff.change_standing(&call.command(caller), reason, &user, change).await?;
    call.refresh_revocations().await;
    Ok(applied)
}
