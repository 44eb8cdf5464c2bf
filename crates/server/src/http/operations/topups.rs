//! Paying in.

use std::sync::Arc;

use actix_web::rt;
use cuepoint_domain::access::Caller;
use cuepoint_domain::ids::TopupId;
use cuepoint_domain::ledger::{Outcome, Receipt};
use cuepoint_domain::money::{Amount, Money};
use cuepoint_domain::ports::Applied;
use cuepoint_domain::service::TakenUp;
use cuepoint_domain::topup::Topup;
use tokio::time::timeout_at;
use tracing::Instrument as _;

use crate::app::App;
use crate::http::call::{self, Call};
use crate::http::openapi::bodies::{NewTopup, PageQuery};
use crate::http::operations::views::{self, TopupData};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::page::Page;
use crate::http::wire::values;
use crate::jobs::topup_orders::{self, Refused};

/// What is said of a top-up that its provider refuses.
const REFUSED: &str = "The payment provider refused the top-up.";

/// Pays into the caller's wallet through the provider.
///
/// A provider that has a page for each payment is asked for it. Where it does not answer in time, `payment_url` is null, and
/// the top-up shows it when the provider has answered. A top-up that the provider refuses has failed, and is answered with a
/// 503 `unavailable`. A repeated call shows the top-up as it stands: it may have gained its `payment_url`.
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
    let opened = call.app.services.topup_orders.open(&call.command(&caller), amount).await?;
    match (opened.applied, opened.to_order) {
        (Applied::Fresh(receipt), Some(topup)) => {
            let topup = order(&call, topup).await?;
            Ok(Applied::Fresh(Receipt { outcome: Outcome::Topup(topup), ..receipt }))
        }
        (applied, _) => Ok(applied),
    }
}

/// What a retry is shown: the top-up as it stands, ordered now where its next order is due.
pub async fn reopened(call: Call, receipt: Receipt) -> Result<Receipt, ApiError> {
    let id = topup_of(&receipt)?.id;
    let topup = match call.app.services.topup_orders.reopen(id).await? {
        TakenUp::ToOrder(topup) => order(&call, topup).await?,
        TakenUp::GivenUp(topup) => {
            topup_orders::log_given_up(&topup);
            topup
        }
        TakenUp::Standing(topup) => topup,
    };
    Ok(Receipt { outcome: Outcome::Topup(topup), ..receipt })
}

/// Orders a top-up that this call has taken up, and answers with how it stands then. Where the provider takes longer than
/// the call may, the top-up is answered as it is; the answer is kept when it comes.
async fn order(call: &Call, topup: Topup) -> Result<Topup, ApiError> {
    let ordering = rt::spawn(topup_orders::order(Arc::clone(&call.app), topup.clone()).in_current_span());
    match timeout_at(call.deadline.for_waits(), ordering).await {
        Ok(Ok(Ok(standing))) => Ok(standing),
        Ok(Ok(Err(Refused))) => Err(ApiError::saying(Code::Unavailable, REFUSED)),
        Ok(Err(error)) => Err(ApiError::internal(error)),
        Err(_) => Ok(topup),
    }
}

/// What a new top-up is shown as.
pub fn opened(app: &App, receipt: &Receipt) -> Result<Answer, ApiError> {
    let topup = topup_of(receipt)?;
    let location = format!("{}/api/v1/wallet/topups/{}", app.settings.public_url, topup.id);
    let topup = views::Topup::new(topup, &app.settings.currency);
    Ok(Answer::created("Top-up started.", TopupData { topup })?.at(location))
}

/// The top-up that a command came to.
fn topup_of(receipt: &Receipt) -> Result<&Topup, ApiError> {
    match &receipt.outcome {
        Outcome::Topup(topup) => Ok(topup),
        _ => Err(ApiError::internal("a top-up came to something else")),
    }
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
        body = Success<Page<views::Topup>>,
    )),
)]
pub async fn list(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let paging = call.paging(&[]);
    let rows = call.app.services.wallet.topups(&caller, paging.request()).await?;
    call::page("Top-ups.", &paging, &rows, |topup| views::Topup::new(topup, call.currency()))
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
    Answer::ok("Top-up.", TopupData { topup: views::Topup::new(&topup, call.currency()) })
}
