//! Everybody's withdrawals, for operators.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::ledger::Receipt;
use cuepoint_domain::ports::Applied;
use cuepoint_domain::service::OperatorMove;
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{self, WithdrawalStatus};

use crate::app::App;
use crate::http::call::{self, Call};
use crate::http::openapi::bodies::{Completed, PageQuery, Reason, Sent};
use crate::http::operations::views::OperatorWithdrawal;
use crate::http::operations::withdrawals::outcome;
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::fields::Fields;
use crate::http::wire::names;
use crate::http::wire::page::Page;
use crate::http::wire::query::Filters;
use crate::http::wire::{messages, values};

/// Lists everybody's withdrawals.
#[utoipa::path(
    get,
    path = "/api/v1/operator/withdrawals",
    operation_id = "listAllWithdrawals",
    tag = "Operators",
    params(
        PageQuery,
        ("status" = Option<names::WithdrawalStatus>, Query, description = "Only those with this status."),
    ),
    responses((
        status = 200,
        description = "A page of everybody's withdrawals, newest first.",
        body = Success<Page<OperatorWithdrawal>>,
    )),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let mut filters = Filters::of(&call.query);
    let status = filters.read("status", WithdrawalStatus::named, messages::selected);
    filters.complete()?;
    let paging = call.paging(&["status"]);
    let rows = call.app.services.operators.withdrawals(&caller, status, paging.request()).await?;
    call::page("Withdrawals.", &paging, &rows, |withdrawal| {
        OperatorWithdrawal::new(withdrawal, call.currency())
    })
}

/// Approves a pending withdrawal of somebody else; above a limit a second operator has to approve it as well.
#[utoipa::path(
    post,
    path = "/api/v1/operator/withdrawals/{id}/approve",
    operation_id = "approveWithdrawal",
    tag = "Operators",
    request_body = Reason,
    responses((
        status = 200,
        description = "The withdrawal waits to be sent or, still pending, for a second operator's approval.",
        body = Success<OperatorWithdrawal>,
    )),
)]
pub async fn approve(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let withdrawal = judged(&call, &caller).await?;
    change(&call, &caller, withdrawal, |_| Some(OperatorMove::Approve)).await
}

/// Refuses a pending or approved withdrawal of somebody else; its amount is released.
#[utoipa::path(
    post,
    path = "/api/v1/operator/withdrawals/{id}/reject",
    operation_id = "rejectWithdrawal",
    tag = "Operators",
    request_body = Reason,
    responses((
        status = 200,
        description = "The withdrawal is refused and its amount released.",
        body = Success<OperatorWithdrawal>,
    )),
)]
pub async fn reject(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let withdrawal = judged(&call, &caller).await?;
    change(&call, &caller, withdrawal, |_| Some(OperatorMove::Reject)).await
}

/// Begins to send an approved withdrawal by hand.
#[utoipa::path(
    post,
    path = "/api/v1/operator/withdrawals/{id}/process",
    operation_id = "processWithdrawal",
    tag = "Operators",
    request_body = Reason,
    responses((status = 200, description = "The withdrawal is being sent.", body = Success<OperatorWithdrawal>)),
)]
pub async fn process(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let withdrawal = sent(&call, &caller).await?;
    change(&call, &caller, withdrawal, |_| Some(OperatorMove::Process)).await
}

/// Says as which transaction a withdrawal was sent.
#[utoipa::path(
    post,
    path = "/api/v1/operator/withdrawals/{id}/broadcast",
    operation_id = "broadcastWithdrawal",
    tag = "Operators",
    request_body = Sent,
    responses((status = 200, description = "The withdrawal is sent.", body = Success<OperatorWithdrawal>)),
)]
pub async fn broadcast(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let withdrawal = sent(&call, &caller).await?;
    let broadcast = |fields: &mut Fields<'_>| {
        fields.required("txid", values::line).map(|txid| OperatorMove::Broadcast { txid })
    };
    change(&call, &caller, withdrawal, broadcast).await
}

/// Says that a withdrawal arrived; its amount is captured.
#[utoipa::path(
    post,
    path = "/api/v1/operator/withdrawals/{id}/complete",
    operation_id = "completeWithdrawal",
    tag = "Operators",
    request_body = Completed,
    responses((
        status = 200,
        description = "The withdrawal is completed and its amount captured.",
        body = Success<OperatorWithdrawal>,
    )),
)]
pub async fn complete(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let withdrawal = sent(&call, &caller).await?;
    let completed = |fields: &mut Fields<'_>| {
        Some(OperatorMove::Complete { txid: fields.optional("txid", values::line) })
    };
    change(&call, &caller, withdrawal, completed).await
}

/// Says that a withdrawal of somebody else was definitely not paid; its amount is released.
#[utoipa::path(
    post,
    path = "/api/v1/operator/withdrawals/{id}/fail",
    operation_id = "failWithdrawal",
    tag = "Operators",
    request_body = Reason,
    responses((
        status = 200,
        description = "The withdrawal failed and its amount is released.",
        body = Success<OperatorWithdrawal>,
    )),
)]
pub async fn fail(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let withdrawal = judged(&call, &caller).await?;
    change(&call, &caller, withdrawal, |_| Some(OperatorMove::Fail)).await
}

/// Says that nobody knows whether a withdrawal was paid; its amount stays held.
#[utoipa::path(
    post,
    path = "/api/v1/operator/withdrawals/{id}/review",
    operation_id = "reviewWithdrawal",
    tag = "Operators",
    request_body = Reason,
    responses((
        status = 200,
        description = "The withdrawal waits for somebody to find out.",
        body = Success<OperatorWithdrawal>,
    )),
)]
pub async fn review(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let withdrawal = sent(&call, &caller).await?;
    change(&call, &caller, withdrawal, |_| Some(OperatorMove::Review)).await
}

/// What a withdrawal is shown as that an operator moved.
pub fn moved(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let (withdrawal, _) = outcome(receipt)?;
    Answer::ok("Withdrawal updated.", OperatorWithdrawal::new(withdrawal, &app.settings.currency))
}

async fn judged(call: &Call, caller: &Caller) -> Result<withdrawal::Withdrawal, ApiError> {
    Ok(call.app.services.operators.judged(caller, call.id(WithdrawalId::new)?).await?)
}

async fn sent(call: &Call, caller: &Caller) -> Result<withdrawal::Withdrawal, ApiError> {
    Ok(call.app.services.operators.sent(caller, call.id(WithdrawalId::new)?).await?)
}

/// Moves a withdrawal as the body's fields say.
async fn change(
    call: &Call,
    caller: &Caller,
    withdrawal: withdrawal::Withdrawal,
    read: impl FnOnce(&mut Fields<'_>) -> Option<OperatorMove>,
) -> Result<Applied, ApiError> {
    let mut fields = call.fields();
    let to = read(&mut fields);
    let reason = fields.required("reason", values::line);
    let (to, reason): (OperatorMove, Line) = fields.complete(|| to.zip(reason))?;
    let operators = &call.app.services.operators;
    Ok(operators.move_withdrawal(&call.command(caller), reason, withdrawal, to).await?)
}
