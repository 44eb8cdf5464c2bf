//! Top-ups of all users, for staff: charge-backs and money in suspense.

use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::{ReverseTopup, SettleSuspense};
use cuepoint_domain::application::queries::TopupSearch;
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::{TopupId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::page::Rows;
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::topup;
use serde::Serialize;
use utoipa::ToSchema;

use crate::call::{self, ApiCall};
use crate::command_call::CommandCall;
use crate::declaration::{json, ok, operations, page};
use crate::endpoint::{authenticated, command};
use crate::operations::staff::reason::{ReasonBody, reason};
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use crate::wire::validation_texts::{self, Errors};
use cuepoint_views::operator_topup::OperatorTopupView;
use cuepoint_views::user_names::UserNames;
use cuepoint_views::view;
use cuepoint_views::wire::money::Number;
use cuepoint_views::wire::time::WireTimestamp;

operations! {
    /// Find top-ups
    ///
    /// For operators and auditors. The top-ups of a user, or the one with a reference, newest first. Without both
    /// filters, the request returns 422 for `user_id`.
    GET "/api/v1/operator/topups" "listOperatorTopups" {
        tag: OperatorMoney,
        run: authenticated(Action::ReadTopups, list),
        answers: page::<OperatorTopupDetailsView>("A page of top-ups, newest first."),
        filters: TopupFilters::DECLARED,
        fails: &[Code::ValidationFailed],
    }

    /// Show a top-up of any user
    ///
    /// For operators and auditors. As in `listOperatorTopups`.
    GET "/api/v1/operator/topups/{id}" "getOperatorTopup" {
        tag: OperatorMoney,
        run: authenticated(Action::ReadTopups, show),
        answers: ok::<OperatorTopupDetailsData>("The top-up."),
    }

    /// Charge back a top-up
    ///
    /// For operators. Reverses a confirmed top-up of another user after its payment was charged back. The amount is
    /// taken from the available balance, never from held amounts. The shortfall becomes a debt. If the user was
    /// erased, this is the whole amount. DJs who were paid with the money keep it. A second reversal changes
    /// nothing.
    ///
    /// - 403 `own_account`: the top-up is the operator's own.
    /// - 422 `limit_exceeded`: the debt would exceed the largest possible balance.
    POST "/api/v1/operator/topups/{id}/chargeback" "chargeBackTopup" {
        tag: OperatorMoney,
        run: command(reverse),
        answers: ok::<OperatorTopupData>("The reversed top-up.")
            .showing(&[("status", "reversed")]),
        body: json::<ReasonBody>(),
        fails: &[Code::OwnAccount, Code::InvalidTransition, Code::LimitExceeded],
    }

    /// List money in suspense
    ///
    /// For operators and auditors. Money that arrived for top-ups of erased users. It is credited to no wallet, and
    /// waits for an operator. A pending top-up fails first, with its event. Unsettled money comes first, then the
    /// latest.
    GET "/api/v1/operator/suspense" "listSuspense" {
        tag: OperatorMoney,
        run: authenticated(Action::ReadTopups, suspense),
        answers: page::<SuspenseDetailsView>(
            "A page of money in suspense: unsettled money first, then by arrival, newest first."
        ),
    }

    /// Settle money in suspense
    ///
    /// For operators. Records that the money was sent back through the payment system, or handled in another way,
    /// and clears it from the account `outside_suspense`. Nothing is paid out. Settled money returns 409
    /// `already_settled`, and a top-up without money in suspense 404 `not_found`.
    POST "/api/v1/operator/suspense/{id}/settle" "settleSuspense" {
        tag: OperatorMoney,
        run: command(settle),
        answers: ok::<SuspenseData>("The settled money."),
        body: json::<ReasonBody>(),
    }
}

filters! {
    /// The filters of top-ups.
    struct TopupFilters {
        /// Only top-ups of the user with this id. Required without `reference`.
        user_id: UserId = filters::ANY_USER_ID,
        /// Only the top-up with this reference at the payment provider. Required without `user_id`.
        reference: ProviderReference = filters::PROVIDER_REFERENCE,
    }
}

view! {
    /// A top-up, as staff see it, with names.
    pub struct OperatorTopupDetailsView as OperatorTopupDetails of (
        topup: &topup::Topup,
        names: &UserNames,
        currency: &Currency,
    ) {
        /// The top-up.
        #[serde(flatten)]
        topup: OperatorTopupView = OperatorTopupView::new(topup, currency),
        /// Name of the user; null for an erased user.
        #[schema(example = "Ada")]
        user_name: Option<String> = names.of(topup.user),
    }
}

/// A top-up in an answer to staff.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OperatorTopupDetailsData {
    /// The top-up.
    pub topup: OperatorTopupDetailsView,
}

/// A top-up in the answer to its charge-back.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct OperatorTopupData {
    /// The top-up.
    pub topup: OperatorTopupView,
}

view! {
    /// Money that arrived for a top-up of an erased user.
    pub struct SuspenseView as Suspense of (
        topup: &topup::Topup,
        suspense: &topup::Suspense,
        currency: &Currency,
    ) {
        let settlement = suspense.settlement.as_ref();
        /// Id of the top-up. It identifies the money, too.
        #[id(example = 3)]
        id: i64 = topup.id.get(),
        /// Reference of the top-up at the payment provider.
        #[schema(example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
        reference: String = topup.reference().to_string(),
        /// Id of the erased user.
        #[id(example = 7)]
        user_id: i64 = topup.user.get(),
        /// Amount in major units of the wallet's currency.
        #[decimal(example = 50.00)]
        amount: Number = Number::money(currency, topup.amount.money()),
        /// Time of receipt.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        arrived_at: WireTimestamp = WireTimestamp(suspense.arrived_at),
        /// Time of the settlement; null while unsettled.
        #[timestamp_or_null(example = "2026-02-02T09:00:00.000000Z")]
        settled_at: Option<WireTimestamp> = settlement.map(|settlement| WireTimestamp(settlement.at)),
        /// Id of the operator who settled the money; null while unsettled.
        #[id(example = 2)]
        settled_by: Option<i64> = settlement.map(|settlement| settlement.by.get()),
        /// Reason of the settlement; null while unsettled.
        #[schema(example = "Sent back to the payer's card.")]
        reason: Option<String> = settlement.map(|settlement| settlement.reason.as_str().to_owned()),
    }
}

/// Money in suspense in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct SuspenseData {
    /// The money.
    pub suspense: SuspenseView,
}

view! {
    /// Money in suspense, with names.
    pub struct SuspenseDetailsView as SuspenseDetails of (
        topup: &topup::Topup,
        suspense: &topup::Suspense,
        names: &UserNames,
        currency: &Currency,
    ) {
        /// The money.
        #[serde(flatten)]
        suspense: SuspenseView = SuspenseView::new(topup, suspense, currency),
        /// Name of the operator who settled the money; null while unsettled and for an erased user.
        #[schema(example = "Grace")]
        settled_by_name: Option<String> =
            names.of(suspense.settlement.as_ref().map(|settlement| settlement.by)),
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
            let message = validation_texts::required_without("user_id", "reference");
            return Err(ApiError::invalid(Errors::one("user_id", message)));
        }
    };
    let paging = call.paging();
    let rows = call.use_cases().topups.search(&principal, search, paging.request()).await?;
    let names = call.names(&principal, rows.rows.iter().map(|topup| topup.user)).await?;
    call::page("Top-ups.", &paging, &rows, |topup| {
        OperatorTopupDetailsView::new(topup, &names, call.currency())
    })
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let topup = call.use_cases().topups.of_any_user(&principal, call.id(TopupId::new)?).await?;
    let names = call.names(&principal, [topup.user]).await?;
    let topup = OperatorTopupDetailsView::new(&topup, &names, call.currency());
    ApiResponse::new("Top-up.", OperatorTopupDetailsData { topup })
}

async fn reverse(call: CommandCall<ReverseTopup>) -> Result<Done<ApiResponse>, ApiError> {
    let command = ReverseTopup { id: call.id(TopupId::new)? };
    call.run(command, || reason(&call)).await?.try_map(|topup| {
        let topup = OperatorTopupView::new(&topup, call.currency());
        ApiResponse::new("Top-up reversed.", OperatorTopupData { topup })
    })
}

async fn suspense(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let paging = call.paging();
    let found = call.use_cases().topups.in_suspense(&principal, paging.request()).await?;
    let names = call.names(&principal, found.rows.iter().filter_map(settled_by)).await?;
    // The list contains only top-ups with money in suspense.
    let rows = found.rows.iter().filter_map(|topup| {
        let suspense = topup.suspense.as_ref()?;
        Some(SuspenseDetailsView::new(topup, suspense, &names, call.currency()))
    });
    let rows = Rows { rows: rows.collect(), total: found.total };
    call::page("Money in suspense.", &paging, &rows, SuspenseDetailsView::clone)
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

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{OperationId, TopupId};
    use cuepoint_domain::money::{Amount, Money};
    use cuepoint_domain::text::Line;
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::topup::SuspenseSettlement;
    use cuepoint_domain::topup::{Charge, open};

    #[test]
    fn the_json_of_money_in_suspense_is_stable() {
        let at = Timestamp::EPOCH;
        let (id, user) = (TopupId::new(3).unwrap(), UserId::new(8).unwrap());
        let amount = Amount::new(Money::from_minor(30)).unwrap();
        let (topup, _) = open(OperationId(1), id, user, amount, Charge::Confirmed, at);
        let waits = topup::Suspense { operation: OperationId(2), arrived_at: at, settlement: None };
        let (by, reason) = (UserId::new(2).unwrap(), Line::new("sent back").unwrap());
        let settlement = SuspenseSettlement { operation: OperationId(3), at, by, reason };
        let settled = topup::Suspense { settlement: Some(settlement), ..waits.clone() };
        let moment = r#""1970-01-01T00:00:00.000000Z""#;
        for (suspense, rest) in [
            (waits, r#""settled_at":null,"settled_by":null,"reason":null"#.to_owned()),
            (settled, format!(r#""settled_at":{moment},"settled_by":2,"reason":"sent back""#)),
        ] {
            let view = SuspenseView::new(&topup, &suspense, &Currency::new("USD", 2).unwrap());
            assert_eq!(
                serde_json::to_string(&view).unwrap(),
                format!(
                    concat!(
                        r#"{{"id":3,"reference":"00000000-0000-0000-0000-000000000001","user_id":8,"#,
                        r#""amount":0.30,"arrived_at":{},{}}}"#
                    ),
                    moment, rest
                )
            );
        }
    }
}
