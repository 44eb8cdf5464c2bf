//! The caller's top-ups.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::OpenTopup;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::TopupId;
use cuepoint_domain::money::Amount;
use cuepoint_domain::topup::TopupStatus;
use serde::Serialize;
use utoipa::ToSchema;

use crate::call::{self, ApiCall};
use crate::command_call::CommandCall;
use crate::declaration::{created, object, ok, operations, page};
use crate::endpoint::{authenticated, command};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use crate::wire::kinds;
use cuepoint_views::topup::TopupView;

operations! {
    /// Open a top-up
    ///
    /// Starts a payment into the caller's wallet at the payment provider. A provider with a page per payment
    /// is asked for it; if the provider does not answer in time, `payment_url` is null, and the top-up shows
    /// it once the provider has answered. If the provider refuses the top-up, it fails, and the request returns 422
    /// `topup_refused`. A repeated request shows the current state of the top-up, which may have gained a
    /// `payment_url`.
    ///
    /// A deployment without a provider returns 501 `not_configured`.
    POST "/api/v1/wallet/topups" "createTopup" {
        tag: Wallet,
        run: command(open),
        answers: created::<TopupData>("The top-up, confirmed or waiting for the provider.").located("/api/v1/wallet/topups"),
        body: object::<TopupBody>(),
        fails: &[Code::LimitExceeded, Code::TopupRefused, Code::NotConfigured],
    }

    /// List the caller's top-ups
    ///
    /// Newest first.
    GET "/api/v1/wallet/topups" "listTopups" {
        tag: Wallet,
        run: authenticated(Action::UseWallet, list),
        answers: page::<TopupView>("A page of the caller's top-ups, newest first."),
        filters: TopupFilters::DECLARED,
    }

    /// Show a top-up
    GET "/api/v1/wallet/topups/{id}" "getTopup" {
        tag: Wallet,
        run: authenticated(Action::UseWallet, show),
        answers: ok::<TopupData>("The top-up."),
    }
}

filters! {
    /// The filters of the caller's top-ups.
    struct TopupFilters {
        /// Only top-ups with this status.
        status: TopupStatus = filters::TOPUP_STATUS,
    }
}

body! {
    /// A top-up to open.
    pub struct TopupBody as "NewTopup", example: {"amount": 50.00} {
        /// Amount in major units of the wallet's currency, with no more decimals than it has.
        amount: Amount = required(kinds::AMOUNT),
    }
}

/// A top-up in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct TopupData {
    /// The top-up.
    pub topup: TopupView,
}

async fn open(call: CommandCall<OpenTopup>) -> Result<Done<ApiResponse>, ApiError> {
    let read_input = || call.body().map(|TopupBody { amount }| amount);
    call.run(OpenTopup, read_input).await?.try_map(|topup| {
        let view = TopupData { topup: TopupView::new(&topup, call.currency()) };
        Ok(ApiResponse::new("Top-up started.", view)?.at(topup.id))
    })
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let TopupFilters { status } = call.filters()?;
    let paging = call.paging();
    let rows = call.use_cases().topups.list(&principal, status, paging.request()).await?;
    call::page("Top-ups.", &paging, &rows, |topup| TopupView::new(topup, call.currency()))
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let topup = call.use_cases().topups.own(&principal, call.id(TopupId::new)?).await?;
    ApiResponse::new("Top-up.", TopupData { topup: TopupView::new(&topup, call.currency()) })
}
