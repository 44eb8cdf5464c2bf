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
    /// Create a top-up
    ///
    /// Starts a payment into the caller's wallet. What follows depends on the payment provider of the deployment:
    ///
    /// - The provider `sandbox` confirms the top-up immediately, or has a payment page for tests.
    /// - A provider with payment pages gets a payment request. `payment_url` is the page. If the provider does not
    ///   answer in time, `payment_url` is null until `getTopup` shows it.
    /// - For any other payment system, hand it the `reference`. The top-up is pending until the system confirms it.
    ///
    /// If the provider refuses the top-up, it fails, and the request returns 422 `topup_refused`. A deployment
    /// without top-ups returns 501 `not_configured`. An amount that would exceed the largest possible balance
    /// returns 422 `limit_exceeded`. An amount below `amounts.topup.minimum` of `getSettings` returns 422
    /// `validation_failed` for `amount`.
    ///
    /// A request that is repeated with its Idempotency-Key returns the top-up in its current state. A refused
    /// top-up consumes its key: a repetition shows the failed top-up (201), and another attempt needs another key.
    ///
    /// If the provider does not answer, the service repeats the payment request for a time, under the same
    /// reference. After that, the top-up stays pending without a payment page, until the provider reports the
    /// payment.
    POST "/api/v1/wallet/topups" "createTopup" {
        tag: Wallet,
        run: command(open),
        answers: created::<TopupData>("The top-up, confirmed or waiting for the provider.").located("/api/v1/wallet/topups"),
        body: object::<TopupBody>(),
        fails: &[Code::LimitExceeded, Code::TopupRefused, Code::NotConfigured],
    }

    /// List the caller's top-ups
    ///
    /// The newest top-up comes first.
    GET "/api/v1/wallet/topups" "listTopups" {
        tag: Wallet,
        run: authenticated(Action::UseWallet, list),
        answers: page::<TopupView>("A page of the caller's top-ups, newest first."),
        filters: TopupFilters::DECLARED,
    }

    /// Show a top-up
    ///
    /// A top-up of the caller. Poll it, or read the events, to see whether the payment was confirmed.
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
    /// A top-up to create.
    pub struct TopupBody as "NewTopup", example: {"amount": 50.00} {
        /// Amount in major units of the wallet's currency.
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
    call.run(OpenTopup::default(), read_input).await?.try_map(|topup| {
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
