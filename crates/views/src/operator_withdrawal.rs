//! Views of withdrawals for operators, with the reference at the payout provider.

use cuepoint_domain::money::Currency;
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal;

use crate::view;
use crate::wire::money::Number;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// A withdrawal, as staff see it.
    pub struct OperatorWithdrawalView as OperatorWithdrawal of (
        withdrawal: &withdrawal::Withdrawal,
        currency: &Currency,
    ) {
        /// Id of the withdrawal.
        #[id(example = 5)]
        id: i64 = withdrawal.id.get(),
        /// Reference at the payout provider: a UUID that never changes and never repeats.
        #[schema(example = "019aa6e0-7b42-7c55-8f0d-1a2b3c4d5e6f")]
        reference: String = withdrawal.reference().to_string(),
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
        /// Ids of the operators who approved the withdrawal, at most two, in the order of their approvals. A pending
        /// withdrawal with one approval needs a second one. The list does not change after the withdrawal has left
        /// `pending`.
        #[schema(example = json!([3]))]
        approvals: Vec<i64> = withdrawal.approvals.iter().map(|approval| approval.by.get()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::withdrawal::tests::withdrawal;
    use cuepoint_domain::ids::{OperationId, UserId};
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::withdrawal::{Approval, Withdrawal, WithdrawalState};

    #[test]
    fn a_withdrawal_reference_is_its_opening_operation_or_else_its_id() {
        let usd = Currency::new("USD", 2).unwrap();
        for (opening, reference) in
            [(Some(OperationId(0x1d)), "00000000-0000-0000-0000-00000000001d"), (None, "5")]
        {
            let approvals =
                [3, 4].map(|by| Approval { by: UserId::new(by).unwrap(), at: Timestamp::EPOCH }).to_vec();
            let state = WithdrawalState::Completed { txid: Line::new("ab12").unwrap() };
            let withdrawal = Withdrawal { opening, approvals, ..withdrawal(state) };
            let at = "1970-01-01T00:00:00.000000Z";
            assert_eq!(
                serde_json::to_string(&OperatorWithdrawalView::new(&withdrawal, &usd)).unwrap(),
                format!(
                    concat!(
                        r#"{{"id":5,"reference":"{}","user_id":7,"amount":25.00,"amount_currency":"USD","#,
                        r#""wallet_address":"bc1q","currency":"BTC","network":"bitcoin","created_at":"{}","updated_at":"{}","#,
                        r#""status":"completed","txid":"ab12","approvals":[3,4]}}"#
                    ),
                    reference, at, at
                )
            );
        }
    }
}
