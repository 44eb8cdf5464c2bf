//! The caller's withdrawals.

use cuepoint_domain::address::AddressPolicy;
use cuepoint_domain::application::Done;
use cuepoint_domain::application::commands::{CancelWithdrawal, OpenWithdrawal, Withdrawn};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::ledger::Balance;
use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{self, NewWithdrawal, WaitingFor, WithdrawalAmount, WithdrawalStatus};

use crate::call::{self, ApiCall};
use crate::command_call::CommandCall;
use crate::declaration::{created_bare, json, ok, operations, optional_json, page};
use crate::endpoint::{authenticated, command};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::filters::{self, QueryFilters as _, filters};
use crate::wire::kinds;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::view;
use cuepoint_views::wire::money::Number;
use cuepoint_views::wire::names;
use cuepoint_views::wire::time::WireTimestamp;
use cuepoint_views::withdrawal::WithdrawalView;
use cuepoint_views::withdrawal_options::WithdrawalOptionsView;

operations! {
    /// Create a withdrawal
    ///
    /// Requests a payout in a cryptocurrency, and holds the amount immediately.
    ///
    /// **`amount` is in the currency of the wallet, not in `currency`.** For example, `"amount": 10.00, "currency":
    /// "BTC"` means ten dollars that are paid out in bitcoin, not ten bitcoins. The payout provider converts the
    /// amount. The service knows neither exchange rates nor network fees.
    ///
    /// - 403 `email_unverified`: the caller's e-mail address is not verified, and the deployment requires it
    ///   (`withdrawals.verified_email`).
    /// - 409 `wallet_owes`: the caller has to pay a debt first. `owed` is its amount.
    /// - 422 `validation_failed`: the strict address policy refuses `currency`, `network` or `wallet_address`.
    /// - 422 `limit_exceeded`: the amount exceeds the limit for one withdrawal, or for all withdrawals of a period, or
    ///   the part of the balance that is not `clearing` (`getWallet`).
    /// - 422 `insufficient_funds`: the amount is more than the available balance.
    ///
    /// The service approves the withdrawal immediately if the caller's total within 24 hours is below
    /// `withdrawals.auto_approve_below` (0: never). It does not do so for 48 hours after a change of the e-mail
    /// address or a reset of the password. `approveWithdrawal` defines the total.
    ///
    /// Existing clients depend on the exact form of this operation. It never gains or loses a key, and ignores
    /// unknown fields. Its answer has no status, which `getWithdrawal` shows, and has its `message` in `data`.
    POST "/api/v1/withdrawal/crypto" "createWithdrawal" {
        tag: Withdrawals,
        run: command(open),
        answers: created_bare::<CreatedWithdrawalData>("The withdrawal with its amount held.").located("/api/v1/withdrawals"),
        class: Class::Withdrawals,
        body: json::<WithdrawalBody>(),
        fails: &[Code::EmailUnverified, Code::WalletOwes, Code::LimitExceeded, Code::InsufficientFunds],
        is_fixed: true,
    }

    /// List withdrawal options
    ///
    /// The cryptocurrencies that are paid out, with their networks. The deprecated path
    /// `/api/v1/withdrawal/options` works in the same way.
    GET "/api/v1/withdrawals/options" "listWithdrawalOptions" {
        tag: Withdrawals,
        run: authenticated(Action::UseWithdrawal, options),
        answers: ok::<WithdrawalOptionsView>("The currencies with their networks, and whether others are accepted."),
        aliases: &["/api/v1/withdrawal/options"],
    }

    /// List the caller's withdrawals
    ///
    /// The newest withdrawal comes first.
    GET "/api/v1/withdrawals" "listWithdrawals" {
        tag: Withdrawals,
        run: authenticated(Action::UseWithdrawal, list),
        answers: page::<WithdrawalDetailsView>("A page of the caller's withdrawals, newest first."),
        filters: WithdrawalFilters::DECLARED,
    }

    /// Show a withdrawal
    ///
    /// A withdrawal of the caller, with its status and transaction.
    GET "/api/v1/withdrawals/{id}" "getWithdrawal" {
        tag: Withdrawals,
        run: authenticated(Action::UseWithdrawal, show),
        answers: ok::<WithdrawalDetailsView>("The withdrawal."),
    }

    /// Cancel a withdrawal
    ///
    /// Cancels a pending or approved withdrawal of the caller, and releases its amount. A withdrawal in another
    /// status returns 409 `invalid_transition`. Cancelling a cancelled withdrawal changes nothing.
    POST "/api/v1/withdrawals/{id}/cancel" "cancelWithdrawal" {
        tag: Withdrawals,
        run: command(cancel),
        answers: ok::<WithdrawalDetailsView>("The cancelled withdrawal.")
            .showing(&[("status", "cancelled")]),
        body: optional_json::<Empty>(),
        fails: &[Code::InvalidTransition],
    }
}

filters! {
    /// The filters of the caller's withdrawals.
    struct WithdrawalFilters {
        /// Only withdrawals with this status.
        status: WithdrawalStatus = filters::WITHDRAWAL_STATUS,
    }
}

body! {
    /// A withdrawal to create.
    pub struct WithdrawalBody as "NewWithdrawal", example: {
        "amount": 25.00, "wallet_address": "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", "currency": "BTC",
        "network": "bitcoin"
    } {
        /// Amount in major units of the wallet's currency, never of `currency`: `"amount": 25.00, "currency": "BTC"`
        /// means 25 dollars that are paid out in bitcoin, not 25 bitcoins.
        amount: WithdrawalAmount = required(kinds::WITHDRAWAL_AMOUNT),
        /// Address of the recipient. The strict address policy requires an address of the network with a correct
        /// checksum. It refuses some addresses, such as those without a private key, and returns the address in
        /// canonical form. The lenient policy accepts any text.
        wallet_address: Line = required(kinds::LINE),
        /// Cryptocurrency of the payout. `amount` is in the wallet's currency, not in this one. The
        /// strict address policy requires one of `listWithdrawalOptions`, in any letter case.
        currency: Line = required(kinds::LINE),
        /// Network of the payout. The strict address policy requires a network of the cryptocurrency, in any letter
        /// case.
        network: Line = required(kinds::LINE),
    }
}

view! {
    /// A new withdrawal.
    pub struct CreatedWithdrawalView as CreatedWithdrawal of (
        withdrawal: &withdrawal::Withdrawal,
        currency: &Currency,
    ) {
        /// Id of the withdrawal.
        #[id(example = 5)]
        id: i64 = withdrawal.id.get(),
        /// Id of the owner.
        #[id(example = 7)]
        user_id: i64 = withdrawal.user.get(),
        /// Amount in major units of the wallet's currency, never of `currency`: 25 dollars that are paid out in
        /// bitcoin, not 25 bitcoins.
        #[decimal(example = 25.00)]
        amount: Number = Number::money(currency, withdrawal.amount.money()),
        /// Address of the recipient.
        #[schema(example = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")]
        wallet_address: String = withdrawal.wallet_address.as_str().to_owned(),
        /// Cryptocurrency of the payout. `amount` is in the wallet's currency, not in this one.
        #[schema(example = "BTC")]
        currency: String = withdrawal.currency.as_str().to_owned(),
        /// Network of the payout.
        #[schema(example = "bitcoin")]
        network: String = withdrawal.network.as_str().to_owned(),
        /// Time of creation.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(withdrawal.created_at),
        /// Time of the last change of the status.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        updated_at: WireTimestamp = WireTimestamp(withdrawal.updated_at),
    }
}

view! {
    /// A new withdrawal and the balance after it.
    pub struct CreatedWithdrawalData as CreatedWithdrawalData of (
        withdrawal: &withdrawal::Withdrawal,
        balance: Balance,
        currency: &Currency,
    ) {
        /// Message for people.
        #[schema(example = "Withdrawal request submitted.")]
        message: &'static str = "Withdrawal request submitted.",
        /// The withdrawal.
        withdrawal_request: CreatedWithdrawalView = CreatedWithdrawalView::new(withdrawal, currency),
        /// Available balance after the withdrawal, in major units.
        #[decimal(example = 15.00)]
        new_balance: Number = Number::money(currency, balance.available),
    }
}

view! {
    /// A withdrawal, and what it waits for.
    pub struct WithdrawalDetailsView as WithdrawalDetails of (
        withdrawal: &withdrawal::Withdrawal,
        owed: Money,
        currency: &Currency,
    ) {
        /// The withdrawal.
        #[serde(flatten)]
        withdrawal: WithdrawalView = WithdrawalView::new(withdrawal, currency),
        /// What has to happen before a pending or approved withdrawal can go on: `debt` while the owner owes money,
        /// otherwise null.
        #[schema(value_type = Option<names::WaitingFor>)]
        waiting_for: Option<&'static str> = withdrawal.waiting_for(owed).map(WaitingFor::name),
    }
}

async fn open(call: CommandCall<OpenWithdrawal>) -> Result<Done<ApiResponse>, ApiError> {
    let read_input = || {
        let WithdrawalBody { amount, wallet_address, currency, network } = call.body()?;
        Ok(NewWithdrawal { amount, wallet_address, currency, network })
    };
    // A program may send what the policy of the deployment accepts.
    let command = OpenWithdrawal { address_policy: AddressPolicy::Lenient };
    let done = call.run(command, read_input).await?;
    done.try_map(|Withdrawn { withdrawal, balance }| {
        let view = CreatedWithdrawalData::new(&withdrawal, balance, call.currency());
        Ok(ApiResponse::bare(view).at(withdrawal.id))
    })
}

async fn options(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let terms = call.use_cases().withdrawals.terms(&principal)?;
    ApiResponse::new("Withdrawal options.", WithdrawalOptionsView::new(terms))
}

async fn list(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let WithdrawalFilters { status } = call.filters()?;
    let paging = call.paging();
    let (rows, owed) = call.use_cases().withdrawals.list(&principal, status, paging.request()).await?;
    call::page("Withdrawals.", &paging, &rows, |withdrawal| {
        WithdrawalDetailsView::new(withdrawal, owed, call.currency())
    })
}

async fn show(call: ApiCall, principal: Principal) -> Result<ApiResponse, ApiError> {
    let id = call.id(WithdrawalId::new)?;
    let (withdrawal, owed) = call.use_cases().withdrawals.own(&principal, id).await?;
    Ok(ApiResponse::view("Withdrawal.", WithdrawalDetailsView::new(&withdrawal, owed, call.currency())))
}

async fn cancel(call: CommandCall<CancelWithdrawal>) -> Result<Done<ApiResponse>, ApiError> {
    let command = CancelWithdrawal { id: call.id(WithdrawalId::new)? };
    call.run(command, call::no_input).await?.try_map(|Withdrawn { withdrawal, balance }| {
        let view = WithdrawalDetailsView::new(&withdrawal, balance.owed, call.currency());
        Ok(ApiResponse::view("Withdrawal cancelled.", view))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{OperationId, UserId, WithdrawalId};
    use cuepoint_domain::money::Amount;
    use cuepoint_domain::text::Line;
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::withdrawal::{Withdrawal, WithdrawalState};

    #[test]
    fn a_new_withdrawal_has_exactly_the_specified_keys() {
        let balance = Balance { available: Money::from_minor(1_500), ..Balance::default() };
        let usd = Currency::new("USD", 2).unwrap();
        let withdrawal = Withdrawal {
            id: WithdrawalId::new(5).unwrap(),
            opening: Some(OperationId(1)),
            user: UserId::new(7).unwrap(),
            amount: Amount::new(Money::from_minor(2_500)).unwrap(),
            wallet_address: Line::new("bc1q").unwrap(),
            currency: Line::new("BTC").unwrap(),
            network: Line::new("bitcoin").unwrap(),
            state: WithdrawalState::Pending,
            approvals: Vec::new(),
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
        };
        let view = CreatedWithdrawalData::new(&withdrawal, balance, &usd);
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            concat!(
                r#"{"message":"Withdrawal request submitted.","withdrawal_request":{"id":5,"user_id":7,"#,
                r#""amount":25.00,"wallet_address":"bc1q","currency":"BTC","network":"bitcoin","#,
                r#""created_at":"1970-01-01T00:00:00.000000Z","updated_at":"1970-01-01T00:00:00.000000Z"},"#,
                r#""new_balance":15.00}"#
            )
        );
    }
}
