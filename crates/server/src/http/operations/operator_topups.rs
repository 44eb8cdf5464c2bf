//! Everybody's top-ups, for staff: charge-backs, and money that came for accounts that were erased.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::TopupId;
use cuepoint_domain::ledger::{Outcome, Receipt};
use cuepoint_domain::ports::Applied;
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::service::TopupSearch;
use cuepoint_domain::text::Line;
use cuepoint_domain::topup;

use crate::app::App;
use crate::http::call::{self, Call};
use crate::http::openapi::bodies::{PageQuery, Reason};
use crate::http::operations::views::{OperatorTopup, OperatorTopupData, Suspense, SuspenseData};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::page::Page;
use crate::http::wire::query::Filters;
use crate::http::wire::{messages, values};

/// Finds top-ups.
///
/// By the person whose wallet they fill, or by the payment provider's reference: one of the two is required.
#[utoipa::path(
    get,
    path = "/api/v1/operator/topups",
    operation_id = "findTopups",
    tag = "Operators",
    params(
        PageQuery,
        ("user_id" = Option<i64>, Query, description = "Only this person's. Required without `reference`."),
        (
            "reference" = Option<String>,
            Query,
            pattern = "^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[1-9][0-9]{0,17})$",
            description = "Only the one that the payment provider knows by this reference. Required without \
                `user_id`."
        ),
    ),
    responses((
        status = 200,
        description = "A page of the top-ups that were found, newest first.",
        body = Success<Page<OperatorTopup>>,
    )),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let mut filters = Filters::of(&call.query);
    let user = filters.user("user_id");
    let reference =
        filters.read("reference", |text| text.parse::<ProviderReference>().ok(), messages::format);
    let search = match (reference, user) {
        (Some(reference), Some(user)) => Some(TopupSearch::Both(reference, user)),
        (Some(reference), None) => Some(TopupSearch::Reference(reference)),
        (None, Some(user)) => Some(TopupSearch::User(user)),
        (None, None) => None,
    };
    let search = filters.one_of(search, "user_id", "reference")?;
    let paging = call.paging(&["user_id", "reference"]);
    let rows = call.app.services.operator_topups.topups(&caller, search, paging.request()).await?;
    call::page("Top-ups.", &paging, &rows, |topup| OperatorTopup::new(topup, call.currency()))
}

/// Shows anybody's top-up.
#[utoipa::path(
    get,
    path = "/api/v1/operator/topups/{id}",
    operation_id = "showAnyTopup",
    tag = "Operators",
    responses((status = 200, description = "The top-up.", body = Success<OperatorTopupData>)),
)]
pub async fn show(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let topup = call.app.services.operator_topups.topup(&caller, call.id(TopupId::new)?).await?;
    Answer::ok("Top-up.", OperatorTopupData { topup: OperatorTopup::new(&topup, call.currency()) })
}

/// Reverses a confirmed top-up of somebody else that was charged back.
///
/// The amount is taken from the available balance, never from held amounts. The missing part is owed, and later
/// income pays it first. DJs who were paid with the money keep it. Reversing a reversed top-up changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/operator/topups/{id}/reverse",
    operation_id = "reverseTopup",
    tag = "Operators",
    request_body = Reason,
    responses((status = 200, description = "The top-up is reversed.", body = Success<OperatorTopupData>)),
)]
pub async fn reverse(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let topups = &call.app.services.operator_topups;
    let topup = topups.reversible(&caller, call.id(TopupId::new)?).await?;
    let reason = reason(&call)?;
    Ok(topups.reverse(&call.command(&caller), reason, topup).await?)
}

/// What a reversed top-up is shown as.
pub fn reversed(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let topup = OperatorTopup::new(outcome(receipt)?, &app.settings.currency);
    Answer::ok("Top-up reversed.", OperatorTopupData { topup })
}

/// Lists money that arrived for top-ups of erased people.
#[utoipa::path(
    get,
    path = "/api/v1/operator/suspense",
    operation_id = "listSuspense",
    tag = "Operators",
    params(PageQuery),
    responses((
        status = 200,
        description = "A page of the money in suspense: first what nobody has settled, then by arrival, newest first.",
        body = Success<Page<Suspense>>,
    )),
)]
pub async fn suspense(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let paging = call.paging(&[]);
    let found = call.app.services.operator_topups.suspense(&caller, paging.request()).await?;
    let shown = |topup: &topup::Topup| {
        topup.suspense.as_ref().map(|suspense| Suspense::new(topup, suspense, call.currency()))
    };
    // The list has only top-ups with money in suspense.
    let rows = found.rows.iter().filter_map(shown).collect();
    call::page(
        "Suspense.",
        &paging,
        &cuepoint_domain::page::Rows { rows, total: found.total },
        Suspense::clone,
    )
}

/// Settles money in suspense that was sent back outside the service, or dealt with otherwise.
///
/// No wallet changes, and nothing is paid out: the ledger records that the money is outside again.
#[utoipa::path(
    post,
    path = "/api/v1/operator/suspense/{id}/settle",
    operation_id = "settleSuspense",
    tag = "Operators",
    request_body = Reason,
    responses((status = 200, description = "The money is settled.", body = Success<SuspenseData>)),
)]
pub async fn settle(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let topups = &call.app.services.operator_topups;
    let topup = topups.suspended(&caller, call.id(TopupId::new)?).await?;
    let reason = reason(&call)?;
    Ok(topups.settle(&call.command(&caller), reason, topup).await?)
}

/// What settled money is shown as.
pub fn settled(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let topup = outcome(receipt)?;
    let Some(suspense) = &topup.suspense else {
        return Err(ApiError::internal("money was settled that is not in suspense"));
    };
    let suspense = Suspense::new(topup, suspense, &app.settings.currency);
    Answer::ok("Money settled.", SuspenseData { suspense })
}

fn outcome(receipt: &Receipt) -> Result<&topup::Topup, ApiError> {
    match &receipt.outcome {
        Outcome::Topup(topup) => Ok(topup),
        _ => Err(ApiError::internal("a change of a top-up came to something else")),
    }
}

fn reason(call: &Call) -> Result<Line, ApiError> {
    let mut fields = call.fields();
    let reason = fields.required("reason", values::line);
    fields.complete(|| reason)
}
