//! Views of withdrawals for clients.

use cuepoint_domain::money::Currency;
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal;

use crate::view;
use crate::wire::money::Number;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// A withdrawal.
    pub struct WithdrawalView as Withdrawal of (withdrawal: &withdrawal::Withdrawal, currency: &Currency) {
        /// Id of the withdrawal.
        #[id(example = 5)]
        id: i64 = withdrawal.id.get(),
        /// Id of the owner.
        #[id(example = 7)]
        user_id: i64 = withdrawal.user.get(),
        /// Amount in major units of `amount_currency`, never of `currency`: `"amount": 10.00, "currency": "BTC"` means
        /// ten dollars that are paid out in bitcoin, not ten bitcoins.
        #[decimal(example = 25.00)]
        amount: Number = Number::money(currency, withdrawal.amount.money()),
        /// Currency of `amount`, which is the currency of the wallet.
        #[schema(example = "USD")]
        amount_currency: String = currency.code().to_owned(),
        /// Address of the recipient.
        #[schema(example = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")]
        wallet_address: String = withdrawal.wallet_address.as_str().to_owned(),
        /// Cryptocurrency of the payout. `amount` is in `amount_currency`, not in this currency.
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
        /// Status.
        #[schema(value_type = names::WithdrawalStatus)]
        status: &'static str = withdrawal.state.status().name(),
        /// Transaction on the network; null while unknown.
        #[schema(example = json!(null))]
        txid: Option<String> = withdrawal.state.txid().map(Line::as_str).map(str::to_owned),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use cuepoint_domain::ids::{OperationId, UserId, WithdrawalId};
    use cuepoint_domain::money::{Amount, Money};
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::withdrawal::WithdrawalState;

    pub(crate) const KEYS: &str = concat!(
        r#"{"id":5,"user_id":7,"amount":25.00,"wallet_address":"bc1q","currency":"BTC","network":"bitcoin","#,
        r#""created_at":"1970-01-01T00:00:00.000000Z","updated_at":"1970-01-01T00:00:00.000000Z""#
    );

    pub(crate) fn withdrawal(state: WithdrawalState) -> withdrawal::Withdrawal {
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
    fn a_withdrawal_is_shown_with_its_currency_status_and_transaction_id() {
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
