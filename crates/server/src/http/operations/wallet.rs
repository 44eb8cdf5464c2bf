//! The caller's wallet and its statement.

use cuepoint_domain::access::Caller;

use crate::http::call::{self, Call};
use crate::http::openapi::bodies::PageQuery;
use crate::http::operations::profile::own;
use crate::http::operations::views::{Entry, Wallet, WalletData};
use crate::http::wire::envelope::{Answer, Success};
use crate::http::wire::error::ApiError;
use crate::http::wire::page::Page;
use crate::http::wire::query::Filters;
use crate::http::wire::{messages, time};

/// Shows what is in the caller's wallet.
#[utoipa::path(
    get,
    path = "/api/v1/wallet",
    operation_id = "showWallet",
    tag = "Wallet",
    params((
        "at" = Option<String>,
        Query,
        format = DateTime,
        example = "2026-01-31T20:15:00Z",
        description = "What was in it then: after the last entry until that moment, nothing before the first.",
    )),
    responses((status = 200, description = "What is in the caller's wallet.", body = Success<WalletData>)),
)]
pub async fn show(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let mut filters = Filters::of(&call.query);
    let at = filters.read("at", time::moment, messages::date);
    filters.complete()?;
    let wallet = &call.app.services.wallet;
    let balance = match at {
        Some(at) => wallet.balance_at(&caller, at).await,
        None => wallet.balance(&caller).await,
    };
    let balance = balance.map_err(own)?;
    Answer::ok("Wallet.", WalletData { wallet: Wallet::new(balance, call.currency()) })
}

/// Lists every change of the caller's wallet.
#[utoipa::path(
    get,
    path = "/api/v1/wallet/entries",
    operation_id = "listEntries",
    tag = "Wallet",
    params(PageQuery),
    responses((
        status = 200,
        description = "A page of the caller's statement, newest first.",
        body = Success<Page<Entry>>,
    )),
)]
pub async fn entries(call: Call, caller: Caller) -> Result<Answer, ApiError> {
    let paging = call.paging(&[]);
    let rows = call.app.services.wallet.entries(&caller, paging.request()).await?;
    call::page("Wallet entries.", &paging, &rows, |entry| Entry::new(entry, call.currency()))
}
