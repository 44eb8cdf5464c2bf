//! Top-ups of all accounts, for staff: charge-backs and money in suspense.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::{ReverseTopup, SettleSuspense};
use cuepoint_domain::application::queries::TopupSearch;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::{TopupId, UserId};
use cuepoint_domain::page::Rows;
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::topup;

use crate::http::call::{self, ApiCall};
use crate::http::command_call::CommandCall;
use crate::http::declaration::{json, ok, operations, page};
use crate::http::endpoint::{authenticated, command};
use crate::http::operations::reason::{ReasonBody, reason};
use crate::http::operations::views::{
    ChargedBackData, NamedSuspenseView, NamedTopupView, OperatorTopupData, OperatorTopupView, SuspenseData,
    SuspenseView,
};
use crate::http::wire::envelope::ApiResponse;
use crate::http::wire::error::{ApiError, Code};
use crate::http::wire::filters::{self, QueryFilters as _, filters};
use crate::http::wire::messages::{self, Errors};

operations! {
    /// Find top-ups
    ///
    /// Finds top-ups by the credited account or by the reference of the payment provider; at least one of the
    /// two is required.
    GET "/api/v1/operator/topups" "findTopups" {
        tag: Operators,
        run: authenticated(Action::ReadTopups, list),
        answers: page::<NamedTopupView>("A page of top-ups, newest first."),
        filters: TopupFilters::DECLARED,
        fails: &[Code::ValidationFailed],
    }

    /// Show a top-up of any account
    GET "/api/v1/operator/topups/{id}" "showAnyTopup" {
        tag: Operators,
        run: authenticated(Action::ReadTopups, show),
        answers: ok::<OperatorTopupData>("The top-up."),
    }

    /// Reverse a top-up that was charged back
    ///
    /// Takes the amount of a confirmed top-up of another account from its available balance, never from held
    /// amounts. The shortfall is owed and is paid first from later income. DJs paid with the money keep it.
    /// Reversing a reversed top-up changes nothing.
    POST "/api/v1/operator/topups/{id}/chargeback" "chargeBackTopup" {
        tag: Operators,
        run: command(reverse),
        answers: ok::<ChargedBackData>("The reversed top-up."),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::InvalidTransition, Code::LimitExceeded],
    }

    /// List money in suspense
    ///
    /// Money received for top-ups of erased accounts.
    GET "/api/v1/operator/suspense" "listSuspense" {
        tag: Operators,
        run: authenticated(Action::ReadTopups, suspense),
        answers: page::<NamedSuspenseView>(
            "A page of money in suspense: unsettled money first, then by arrival, newest first."
        ),
    }

    /// Settle money in suspense
    ///
    /// Records that the money was returned outside the service, or settled otherwise. No balance changes, and
    /// nothing is paid out.
    POST "/api/v1/operator/suspense/{id}/settle" "settleSuspense" {
        tag: Operators,
        run: command(settle),
        answers: ok::<SuspenseData>("The settled money."),
        body: json::<ReasonBody>(),
    }
}

filters! {
    /// The filters of top-ups.
    struct TopupFilters {
        /// Only top-ups of the account with this id. Required without `reference`.
        user_id: UserId = filters::ANY_USER_ID,
        /// Only the top-up with this reference at the payment provider. Required without `user_id`.
        reference: ProviderReference = filters::PROVIDER_REFERENCE,
    }
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let search = match call.filters()? {
        TopupFilters { reference: Some(reference), user_id: Some(user) } => {
            TopupSearch::Both(reference, user)
        }
        TopupFilters { reference: Some(reference), user_id: None } => TopupSearch::Reference(reference),
        TopupFilters { reference: None, user_id: Some(user) } => TopupSearch::User(user),
        TopupFilters { reference: None, user_id: None } => {
            let message = messages::required_without("user_id", "reference");
            return Err(ApiError::invalid(Errors::one("user_id", message)));
        }
    };
    let paging = call.paging();
    let rows = call.app.services.topups.search(&principal, search, paging.request()).await?;
    let names = call.names(&principal, rows.rows.iter().map(|topup| topup.user)).await?;
    call::page("Top-ups.", &paging, &rows, |topup| NamedTopupView::new(topup, &names, call.currency()))
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let topup = call.app.services.topups.of_any_user(&principal, call.id(TopupId::new)?).await?;
    let names = call.names(&principal, [topup.user]).await?;
    let topup = NamedTopupView::new(&topup, &names, call.currency());
    ApiResponse::new("Top-up.", OperatorTopupData { topup })
}

async fn reverse(call: CommandCall<ReverseTopup>) -> Result<Done<ApiResponse>, ApiError> {
    let command = ReverseTopup { id: call.id(TopupId::new)? };
    call.run(command, || reason(&call)).await?.try_map(|topup| {
        let topup = OperatorTopupView::new(&topup, call.currency());
        ApiResponse::new("Top-up reversed.", ChargedBackData { topup })
    })
}

async fn suspense(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let paging = call.paging();
    let found = call.app.services.topups.in_suspense(&principal, paging.request()).await?;
    let names = call.names(&principal, found.rows.iter().filter_map(settled_by)).await?;
    // The list contains only top-ups with money in suspense.
    let rows = found.rows.iter().filter_map(|topup| {
        let suspense = topup.suspense.as_ref()?;
        Some(NamedSuspenseView::new(topup, suspense, &names, call.currency()))
    });
    let rows = Rows { rows: rows.collect(), total: found.total };
    call::page("Suspense.", &paging, &rows, NamedSuspenseView::clone)
}

async fn settle(call: CommandCall<SettleSuspense>) -> Result<Done<ApiResponse>, ApiError> {
    let command = SettleSuspense { id: call.id(TopupId::new)? };
    call.run(command, || reason(&call)).await?.try_map(|topup| {
        let suspense = topup.suspense.as_ref();
        let suspense =
            suspense.ok_or_else(|| ApiError::internal("money was settled that is not in suspense"))?;
        let suspense = SuspenseView::new(&topup, suspense, call.currency());
        ApiResponse::new("Money settled.", SuspenseData { suspense })
    })
}

/// The operator who settled a top-up's money in suspense; the user of the top-up was erased.
fn settled_by(topup: &topup::Topup) -> Option<UserId> {
    topup.suspense.as_ref()?.settlement.as_ref().map(|settlement| settlement.by)
}
