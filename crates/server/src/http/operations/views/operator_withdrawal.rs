//! Views of withdrawals for operators, with the reference at the payout provider.

use cuepoint_domain::application::queries::ReviewedWithdrawal;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{self, WaitingFor};

use crate::http::wire::money::Number;
use crate::http::wire::names;
use crate::http::wire::time::WireTimestamp;
use crate::http::wire::user_names::UserNames;
use crate::http::wire::view::view;

view! {
    /// A withdrawal, as operators see it.
    pub struct OperatorWithdrawalView as OperatorWithdrawal of (
        withdrawal: &withdrawal::Withdrawal,
        currency: &Currency,
    ) {
        /// Id of the withdrawal.
        #[id(example = 5)]
        id: i64 = withdrawal.id.get(),
        /// Reference at the payout provider: a UUID, or the decimal id if an earlier version created it.
        #[schema(example = "019aa6e0-7b42-7c55-8f0d-1a2b3c4d5e6f")]
        reference: String = withdrawal.reference().to_string(),
        /// Id of the account.
        #[id(example = 7)]
        user_id: i64 = withdrawal.user.get(),
        /// Amount in major units of `amount_currency`, the wallet's currency. `currency` names the cryptocurrency in
        /// which it is paid out.
        #[decimal(example = 25.00)]
        amount: Number = Number::money(currency, withdrawal.amount.money()),
        /// Currency of `amount`: the wallet's.
        #[schema(example = "USD")]
        amount_currency: String = currency.code().to_owned(),
        /// Address of the recipient.
        #[schema(example = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")]
        wallet_address: String = withdrawal.wallet_address.as_str().to_owned(),
        /// Cryptocurrency of the payout, not of `amount`.
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
        txid: Option<String> = withdrawal.state.txid().map(Line::as_str).map(str::to_owned),
        /// Operators who approved the withdrawal, in order; a pending withdrawal with one approval awaits a
        /// second.
        #[schema(example = json!([3]))]
        approvals: Vec<i64> = withdrawal.approvals.iter().map(|approval| approval.by.get()).collect(),
    }
}

view! {
    /// A withdrawal, with the present facts on which its approval depends.
    pub struct ReviewedWithdrawalView as ReviewedWithdrawal of (
        reviewed: &ReviewedWithdrawal,
        names: &UserNames,
        currency: &Currency,
    ) {
        let ReviewedWithdrawal { withdrawal, review, approvals_needed } = reviewed;
        /// The withdrawal.
        #[serde(flatten)]
        withdrawal: OperatorWithdrawalView = OperatorWithdrawalView::new(withdrawal, currency),
        /// What has to happen before the withdrawal can be approved or sent: `debt` while the account owes money; null if
        /// nothing has to.
        #[schema(value_type = Option<names::WaitingFor>)]
        waiting_for: Option<&'static str> = withdrawal.waiting_for(review.owed).map(WaitingFor::name),
        /// Debt of the account, in major units of the wallet's currency.
        #[decimal(example = 0.00)]
        owed: Number = Number::money(currency, review.owed),
        /// Sum of the amounts of this withdrawal and of the account's others that were created less than 24 hours before
        /// or after it, except for cancelled, rejected and failed ones.
        #[decimal(example = 25.00)]
        sum_24h: Number = Number::money(currency, review.sum_24h),
        /// Number of approvals that a pending withdrawal needs, the given ones included; 0 for all others.
        #[schema(minimum = 0, maximum = 2, example = 1)]
        approvals_needed: usize = *approvals_needed,
        /// Time of the last change of the account's e-mail address or reset of its password; null if there was none.
        /// Withdrawals of the 48 hours after it are not approved automatically.
        #[timestamp_or_null()]
        login_changed_at: Option<WireTimestamp> = review.login_changed_at.map(WireTimestamp),
        /// Name of the account; null if it was erased.
        #[schema(example = "Ada")]
        user_name: Option<String> = names.of(withdrawal.user),
        /// Names of the operators in `approvals`, in the same order; null for an erased one.
        #[schema(example = json!(["Grace"]))]
        approval_names: Vec<Option<String>> =
            withdrawal.approvals.iter().map(|approval| names.of(approval.by)).collect(),
    }
}

impl ReviewedWithdrawalView {
    /// The users whose names it shows.
    pub fn users(reviewed: &ReviewedWithdrawal) -> impl Iterator<Item = UserId> {
        let approvals = reviewed.withdrawal.approvals.iter();
        approvals.map(|approval| approval.by).chain([reviewed.withdrawal.user])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{OperationId, WithdrawalId};
    use cuepoint_domain::money::{Amount, Money};
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::withdrawal::{Approval, Withdrawal, WithdrawalState};

    #[test]
    fn an_operator_sees_the_reference_in_either_form() {
        let usd = Currency::new("USD", 2).unwrap();
        for (opening, reference) in
            [(Some(OperationId(0x1d)), "00000000-0000-0000-0000-00000000001d"), (None, "5")]
        {
            let withdrawal = Withdrawal {
                id: WithdrawalId::new(5).unwrap(),
                opening,
                user: UserId::new(7).unwrap(),
                amount: Amount::new(Money::from_minor(2_500)).unwrap(),
                wallet_address: Line::new("bc1q").unwrap(),
                currency: Line::new("BTC").unwrap(),
                network: Line::new("bitcoin").unwrap(),
                state: WithdrawalState::Completed { txid: Line::new("ab12").unwrap() },
                approvals: [3, 4]
                    .map(|by| Approval { by: UserId::new(by).unwrap(), at: Timestamp::EPOCH })
                    .to_vec(),
                created_at: Timestamp::EPOCH,
                updated_at: Timestamp::EPOCH,
            };
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
