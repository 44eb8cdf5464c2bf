//! Withdrawals.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::ledger::{Balance, Outcome, Receipt};
use cuepoint_domain::ports::Applied;
use cuepoint_domain::withdrawal::{self, NewWithdrawal};

use crate::app::App;
use crate::http::call::{self, Call};
use crate::http::mapping::IntoApiError as _;
use crate::http::openapi::bodies::{NewWithdrawal as NewWithdrawalBody, PageQuery};
use crate::http::operations::views::{Nothing, Withdrawal, WithdrawalOptions, WithdrawalRequested};
use crate::http::wire::envelope::{Answer, BareSuccess, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::page::Page;
use crate::http::wire::values;

/// Asks to be paid out and holds the amount at once.
///
/// The amount is in the wallet's currency; `currency` and `network` say what is paid out.
#[utoipa::path(
    post,
    path = "/api/v1/withdrawal/crypto",
    operation_id = "openWithdrawal",
    tag = "Withdrawals",
    request_body = NewWithdrawalBody,
    responses((
        status = 201,
        description = "The withdrawal is made and its amount held.",
        body = BareSuccess<WithdrawalRequested>,
    )),
)]
pub async fn open(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let mut fields = call.fields();
    let amount =
        fields.required("amount", values::amount(call.currency(), withdrawal::minimum(call.currency())));
    let wallet_address = fields.required("wallet_address", values::line);
    let currency = fields.required("currency", values::line);
    let network = fields.required("network", values::line);
    let new = fields.complete(|| {
        Some(NewWithdrawal {
            amount: amount?,
            wallet_address: wallet_address?,
            currency: currency?,
            network: network?,
        })
    })?;
    let opened = call.app.services.withdrawals.open(&call.command(&caller), new).await;
    opened.map_err(|error| error.into_api_error(call.currency()))
}

/// What a new withdrawal is shown as.
pub fn opened(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let (withdrawal, balance) = outcome(receipt)?;
    let location = format!("{}/api/v1/withdrawals/{}", app.settings.public_url, withdrawal.id);
    let view = WithdrawalRequested::new(withdrawal, balance, &app.settings.currency);
    Ok(Answer::created_bare(view)?.at(location))
}

/// Shows what can be paid out, and on which networks.
#[utoipa::path(
    get,
    path = "/api/v1/withdrawal/options",
    operation_id = "listWithdrawalOptions",
    tag = "Withdrawals",
    responses((
        status = 200,
        description = "Every currency that is paid out with its networks, and whether anything else is taken.",
        body = Success<WithdrawalOptions>,
    )),
)]
pub async fn options(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let terms = call.app.services.withdrawals.terms(&caller)?;
    Answer::ok("Withdrawal options.", WithdrawalOptions::new(terms))
}

/// Lists the caller's withdrawals.
#[utoipa::path(
    get,
    path = "/api/v1/withdrawals",
    operation_id = "listWithdrawals",
    tag = "Withdrawals",
    params(PageQuery),
    responses((
        status = 200,
        description = "A page of the caller's withdrawals, newest first.",
        body = Success<Page<Withdrawal>>,
    )),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let paging = call.paging(&[]);
    let rows = call.app.services.withdrawals.list(&caller, paging.request()).await?;
    call::page("Withdrawals.", &paging, &rows, |withdrawal| Withdrawal::new(withdrawal, call.currency()))
}

/// Shows one of the caller's withdrawals.
#[utoipa::path(
    get,
    path = "/api/v1/withdrawals/{id}",
    operation_id = "showWithdrawal",
    tag = "Withdrawals",
    responses((status = 200, description = "The withdrawal.", body = Success<Withdrawal>)),
)]
pub async fn show(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let withdrawal = call.app.services.withdrawals.own(&caller, call.id(WithdrawalId::new)?).await?;
    Answer::ok("Withdrawal.", Withdrawal::new(&withdrawal, call.currency()))
}

/// Takes back a pending withdrawal; its amount is released.
///
/// A second time changes nothing.
#[utoipa::path(
    post,
    path = "/api/v1/withdrawals/{id}/cancel",
    operation_id = "cancelWithdrawal",
    tag = "Withdrawals",
    request_body = Nothing,
    responses((
        status = 200,
        description = "The withdrawal is cancelled and its amount released.",
        body = Success<Withdrawal>,
    )),
)]
pub async fn cancel(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let withdrawals = &call.app.services.withdrawals;
    let withdrawal = withdrawals.own(&caller, call.id(WithdrawalId::new)?).await?;
    Ok(withdrawals.cancel(&call.command(&caller), withdrawal).await?)
}

/// What a cancelled withdrawal is shown as.
pub fn cancelled(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let (withdrawal, _) = outcome(receipt)?;
    Answer::ok("Withdrawal cancelled.", Withdrawal::new(withdrawal, &app.settings.currency))
}

/// The withdrawal that a command came to, with its owner's balance.
pub(super) fn outcome(receipt: &Receipt) -> Result<(&withdrawal::Withdrawal, Balance), ApiError> {
    match &receipt.outcome {
        Outcome::Withdrawal(withdrawal, balance) => Ok((withdrawal, *balance)),
        Outcome::Request(_)
        | Outcome::Topup(_)
        | Outcome::Profile(..)
        | Outcome::Adjustment(..)
        | Outcome::Message(_) => {
            Err(ApiError::internal("a command about a withdrawal came to something else"))
        }
    }
}
