//! Paying in.

use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::TopupId;
use cuepoint_domain::ledger::{Outcome, Receipt};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::ports::Applied;

use crate::app::App;
use crate::http::call::{self, Call};
use crate::http::envelope::{Answer, Success};
use crate::http::error::ApiError;
use crate::http::openapi::bodies::{NewTopup, PageQuery};
use crate::http::page::Page;
use crate::http::values;
use crate::http::views::{Topup, TopupData};

/// Pays into the caller's wallet through the provider.
///
/// A deployment that has no provider takes no money: it always answers 503 `unavailable`, with a `Retry-After`
/// of an hour.
#[utoipa::path(
    post,
    path = "/api/v1/wallet/topups",
    operation_id = "openTopup",
    tag = "Wallet",
    request_body = NewTopup,
    responses((
        status = 201,
        description = "The top-up, confirmed already or waiting for its provider.",
        body = Success<TopupData>,
    )),
)]
pub async fn open(call: Call, caller: Caller) -> Result<Applied, ApiError> {
    let mut fields = call.fields();
    let amount = fields.required("amount", values::amount(call.currency(), Money::from_minor(1)));
    let amount: Amount = fields.complete(|| amount)?;
    Ok(call.app.services.wallet.topup(&call.command(&caller), amount).await?)
}

/// What a new top-up is shown as.
pub fn opened(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let Outcome::Topup(topup) = &receipt.outcome else {
        return Err(ApiError::internal("a top-up came to something else"));
    };
    let location = format!("{}/api/v1/wallet/topups/{}", app.settings.public_url, topup.id);
    let topup = Topup::new(topup, &app.settings.currency);
    Ok(Answer::created("Top-up started.", TopupData { topup })?.at(location))
}

/// Lists the caller's top-ups.
#[utoipa::path(
    get,
    path = "/api/v1/wallet/topups",
    operation_id = "listTopups",
    tag = "Wallet",
    params(PageQuery),
    responses((
        status = 200,
        description = "A page of the caller's top-ups, newest first.",
        body = Success<Page<Topup>>,
    )),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let paging = call.paging(&[]);
    let rows = call.app.services.wallet.topups(&caller, paging.request()).await?;
    call::page("Top-ups.", &paging, &rows, |topup| Topup::new(topup, call.currency()))
}

/// Shows one of the caller's top-ups.
#[utoipa::path(
    get,
    path = "/api/v1/wallet/topups/{id}",
    operation_id = "showTopup",
    tag = "Wallet",
    responses((status = 200, description = "The top-up.", body = Success<TopupData>)),
)]
pub async fn show(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let topup = call.app.services.wallet.own_topup(&caller, call.id(TopupId::new)?).await?;
    Answer::ok("Top-up.", TopupData { topup: Topup::new(&topup, call.currency()) })
}
