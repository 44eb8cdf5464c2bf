//! Views of withdrawals for clients.

use cuepoint_domain::ledger::Balance;
use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{self, WaitingFor};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::money::Number;
use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;

/// A new withdrawal.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WithdrawalRequest)]
pub struct WithdrawalRequestView {
    /// Id of the withdrawal.
    #[schema(minimum = 1, example = 5)]
    id: i64,
    /// Id of the account.
    #[schema(minimum = 1, example = 7)]
    user_id: i64,
    /// Amount in major units of the wallet's currency, not of `currency`: 25.00 dollars that are paid out in BTC.
    #[schema(value_type = f64, format = "decimal", example = 25.00)]
    amount: Number,
    /// Address of the recipient.
    #[schema(example = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")]
    wallet_address: String,
    /// Cryptocurrency of the payout, not of `amount`.
    #[schema(example = "BTC")]
    currency: String,
    /// Network of the payout.
    #[schema(example = "bitcoin")]
    network: String,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
    /// Time of the last change of the status.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    updated_at: WireTimestamp,
}

/// A new withdrawal and the balance after it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = WithdrawalRequested)]
pub struct WithdrawalRequestedView {
    /// Message for people.
    #[schema(example = "Withdrawal request submitted.")]
    pub message: &'static str,
    /// The withdrawal.
    pub withdrawal_request: WithdrawalRequestView,
    /// Available balance after the withdrawal, in major units.
    #[schema(value_type = f64, format = "decimal", example = 15.00)]
    pub new_balance: Number,
}

/// A withdrawal.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Withdrawal)]
pub struct WithdrawalView {
    /// Id of the withdrawal.
    #[schema(minimum = 1, example = 5)]
    id: i64,
    /// Id of the account.
    #[schema(minimum = 1, example = 7)]
    user_id: i64,
    /// Amount in major units of `amount_currency`, the wallet's currency. `currency` names the cryptocurrency in
    /// which it is paid out.
    #[schema(value_type = f64, format = "decimal", example = 25.00)]
    amount: Number,
    /// Currency of `amount`: the wallet's.
    #[schema(example = "USD")]
    amount_currency: String,
    /// Address of the recipient.
    #[schema(example = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")]
    wallet_address: String,
    /// Cryptocurrency of the payout, not of `amount`.
    #[schema(example = "BTC")]
    currency: String,
    /// Network of the payout.
    #[schema(example = "bitcoin")]
    network: String,
    /// Time of creation.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
    /// Time of the last change of the status.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    updated_at: WireTimestamp,
    /// Status.
    #[schema(value_type = names::WithdrawalStatus)]
    status: &'static str,
    /// Transaction on the network; null while unknown.
    txid: Option<String>,
}

/// A withdrawal, and what it waits for at present.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = CurrentWithdrawal)]
pub struct CurrentWithdrawalView {
    /// The withdrawal.
    #[serde(flatten)]
    withdrawal: WithdrawalView,
    /// What has to happen before the withdrawal can go on: `debt` while the account owes money; null if nothing has
    /// to.
    #[schema(value_type = Option<names::WaitingFor>)]
    waiting_for: Option<&'static str>,
}

impl CurrentWithdrawalView {
    /// The withdrawal of an owner with this debt.
    #[must_use]
    pub fn new(withdrawal: &withdrawal::Withdrawal, owed: Money, currency: &Currency) -> Self {
        let waiting_for = withdrawal.waiting_for(owed).map(WaitingFor::name);
        Self { withdrawal: WithdrawalView::new(withdrawal, currency), waiting_for }
    }
}

impl WithdrawalRequestView {
    fn new(withdrawal: &withdrawal::Withdrawal, currency: &Currency) -> Self {
        Self {
            id: withdrawal.id.get(),
            user_id: withdrawal.user.get(),
            amount: Number::money(currency, withdrawal.amount.money()),
            wallet_address: withdrawal.wallet_address.as_str().to_owned(),
            currency: withdrawal.currency.as_str().to_owned(),
            network: withdrawal.network.as_str().to_owned(),
            created_at: WireTimestamp(withdrawal.created_at),
            updated_at: WireTimestamp(withdrawal.updated_at),
        }
    }
}

impl WithdrawalRequestedView {
    /// The opened withdrawal with the owner's balance after it.
    #[must_use]
    pub fn new(withdrawal: &withdrawal::Withdrawal, balance: Balance, currency: &Currency) -> Self {
        Self {
            message: "Withdrawal request submitted.",
            withdrawal_request: WithdrawalRequestView::new(withdrawal, currency),
            new_balance: Number::money(currency, balance.available),
        }
    }
}

impl WithdrawalView {
    /// The current state of the withdrawal.
    #[must_use]
    pub fn new(withdrawal: &withdrawal::Withdrawal, of_wallet: &Currency) -> Self {
        let WithdrawalRequestView {
            id,
            user_id,
            amount,
            wallet_address,
            currency,
            network,
            created_at,
            updated_at,
        } = WithdrawalRequestView::new(withdrawal, of_wallet);
        Self {
            id,
            user_id,
            amount,
            amount_currency: of_wallet.code().to_owned(),
            wallet_address,
            currency,
            network,
            created_at,
            updated_at,
            status: withdrawal.state.status().name(),
            txid: withdrawal.state.txid().map(Line::as_str).map(str::to_owned),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{OperationId, UserId, WithdrawalId};
    use cuepoint_domain::money::Amount;
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::withdrawal::WithdrawalState;

    const KEYS: &str = concat!(
        r#"{"id":5,"user_id":7,"amount":25.00,"wallet_address":"bc1q","currency":"BTC","network":"bitcoin","#,
        r#""created_at":"1970-01-01T00:00:00.000000Z","updated_at":"1970-01-01T00:00:00.000000Z""#
    );

    fn withdrawal(state: WithdrawalState) -> withdrawal::Withdrawal {
        withdrawal::Withdrawal {
            id: WithdrawalId::new(5).unwrap(),
            opening: Some(OperationId(1)),
            user: UserId::new(7).unwrap(),
            amount: Amount::new(Money::from_minor(2_500)).unwrap(),
            wallet_address: Line::new("bc1q").unwrap(),
            currency: Line::new("BTC").unwrap(),
            network: Line::new("bitcoin").unwrap(),
            state,
            approvals: Vec::new(),
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
        }
    }

    #[test]
    fn a_new_withdrawal_has_exactly_the_specified_keys() {
        let balance = Balance { available: Money::from_minor(1_500), ..Balance::default() };
        let usd = Currency::new("USD", 2).unwrap();
        let view = WithdrawalRequestedView::new(&withdrawal(WithdrawalState::Pending), balance, &usd);
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            format!(
                r#"{{"message":"Withdrawal request submitted.","withdrawal_request":{KEYS}}},"new_balance":15.00}}"#
            )
        );
    }

    #[test]
    fn a_listed_withdrawal_also_has_its_wallet_currency_status_and_transaction() {
        let usd = Currency::new("USD", 2).unwrap();
        let txid = Line::new("ab12").unwrap();
        for (state, end) in [
            (WithdrawalState::Pending, r#","status":"pending","txid":null}"#),
            (WithdrawalState::Completed { txid }, r#","status":"completed","txid":"ab12"}"#),
        ] {
            let view = WithdrawalView::new(&withdrawal(state), &usd);
            let keys = KEYS.replace(r#""amount":25.00,"#, r#""amount":25.00,"amount_currency":"USD","#);
            assert_eq!(serde_json::to_string(&view).unwrap(), format!("{keys}{end}"));
        }
    }
}
