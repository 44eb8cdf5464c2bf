//! What the service sends to payment and payout systems, and what they may answer.

use cuepoint_domain::money::Currency;
use cuepoint_domain::topup::Topup;
use cuepoint_domain::withdrawal::Withdrawal;
use utoipa::ToSchema;

use crate::view;
use crate::wire::money::Number;
use crate::wire::names;

view! {
    /// A payment to receive for a top-up.
    pub struct PaymentRequestView<'a> as PaymentRequest of (
        topup: &Topup,
        reference: &'a str,
        currency: &'a Currency,
        return_url: Option<String>,
    ) {
        /// Id of the top-up.
        #[id(example = 3)]
        id: i64 = topup.id.get(),
        /// Reference of the top-up, which never repeats. It is also the `webhook-id`.
        #[schema(example = "019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
        reference: &'a str = reference,
        /// Amount in major units of `currency`.
        #[decimal(example = 50.00)]
        amount: Number = Number::money(currency, topup.amount.money()),
        /// Currency of `amount`.
        #[schema(example = "USD")]
        currency: &'a str = currency.code(),
        /// Page to which the payment page sends the browser afterwards, by GET. The page of `topups.return_url`, or
        /// else the page of the payment at this service. Absent if neither exists.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, example = "https://app.example/topups/019aa6e0-5c1f-7d3a-9b1e-3f2a6c8d4e10")]
        return_url: Option<String> = return_url,
    }
}

view! {
    /// A payout to send for a withdrawal.
    pub struct PayoutOrderView<'a> as PayoutOrder of (
        withdrawal: &'a Withdrawal,
        reference: &'a str,
        currency: &'a Currency,
    ) {
        /// Id of the withdrawal.
        #[id(example = 5)]
        id: i64 = withdrawal.id.get(),
        /// Reference of the withdrawal, which never repeats. It is also the `webhook-id`. A withdrawal without this
        /// key has its decimal id as reference.
        #[serde(skip_serializing_if = "Option::is_none")]
        #[schema(nullable = false, example = "019aa6e0-7b42-7c55-8f0d-1a2b3c4d5e6f")]
        reference: Option<&'a str> = withdrawal.opening.map(|_| reference),
        /// Amount in major units of `amount_currency`. `currency` names the cryptocurrency of the payout.
        #[decimal(example = 25.00)]
        amount: Number = Number::money(currency, withdrawal.amount.money()),
        /// Currency of `amount`: the currency of the wallet.
        #[schema(example = "USD")]
        amount_currency: &'a str = currency.code(),
        /// Address of the recipient.
        #[schema(example = "bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq")]
        wallet_address: &'a str = withdrawal.wallet_address.as_str(),
        /// Cryptocurrency of the payout, not of `amount`.
        #[schema(example = "BTC")]
        currency: &'a str = withdrawal.currency.as_str(),
        /// Network of the payout.
        #[schema(example = "bitcoin")]
        network: &'a str = withdrawal.network.as_str(),
    }
}

/// The answer of a payment system. An empty body means that it has accepted the payment request.
#[derive(ToSchema)]
#[schema(as = PaymentAnswer)]
#[expect(dead_code, reason = "only its schema is read")]
pub struct PaymentAnswerBody {
    /// Status of the payment request; `accepted` by default. Values other than `refused` count as `accepted`.
    #[schema(value_type = Option<names::PaymentRequestStatus>, nullable = false)]
    status: Option<String>,
    /// Page on which the user pays, http or https.
    #[schema(max_length = 2048, example = "https://pay.example.com/checkout/019aa6e0")]
    payment_url: Option<String>,
}

/// The answer of a payout system. An empty body means `accepted`.
#[derive(ToSchema)]
#[schema(as = PayoutAnswer)]
#[expect(dead_code, reason = "only its schema is read")]
pub struct PayoutAnswerBody {
    /// Status of the payout; `accepted` by default.
    #[schema(value_type = Option<names::PayoutStatus>, nullable = false)]
    status: Option<String>,
    /// Transaction on the network; required with `broadcast` and `completed`.
    #[schema(example = "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b")]
    txid: Option<String>,
    /// Reason of a refusal, for operators.
    #[schema(example = json!(null))]
    reason: Option<String>,
}
