//! A provider that confirms top-ups by signed webhook, and can be asked for a payment page.

use async_trait::async_trait;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{Intake, OrderAnswer, TopupProvider, Unavailable};
use cuepoint_domain::text::{PaymentUrl, TextError};
use cuepoint_domain::topup::{OrderReply, PaymentPages, Topup};
use serde::Deserialize;
use serde_json::Value;
use thiserror::Error;

use crate::link_template::LinkTemplate;
use crate::signed_messages::{Reply, WebhookClient};
use cuepoint_views::provider_orders::PaymentRequestView;

/// A provider that leaves every top-up pending until a message confirms or refuses it.
pub struct TopupWebhook {
    client: Option<WebhookClient>,
    currency: Currency,
    return_page: Option<LinkTemplate>,
    pages: PaymentPages,
}

/// The body of an answer with more information than the receipt of the order.
#[derive(Deserialize)]
struct ReplyBody {
    #[serde(default)]
    status: Option<Value>,
    #[serde(default)]
    payment_url: Option<Value>,
}

/// The reason why a payment page is not stored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
enum UnusablePage {
    #[error("not a text")]
    NotText,
    #[error(transparent)]
    Text(#[from] TextError),
    #[error("not https")]
    Plain,
}

/// The meaning of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Answer {
    /// The provider accepted the order, and may have named a payment page.
    Taken(Result<Option<PaymentUrl>, UnusablePage>),
    /// The provider refused the order permanently.
    Refused,
}

impl TopupWebhook {
    /// Creates a provider that uses this caller, or that learns of top-ups by other means without one.
    /// Amounts are in `currency`. After the payment, the payment page sends the browser to `return_page`, which gets the
    /// reference. Payers are shown the payment pages of `pages` alone.
    #[must_use]
    pub const fn new(
        client: Option<WebhookClient>,
        currency: Currency,
        return_page: Option<LinkTemplate>,
        pages: PaymentPages,
    ) -> Self {
        Self { client, currency, return_page, pages }
    }

    async fn ask(&self, client: &WebhookClient, topup: &Topup) -> Result<OrderReply, Unavailable> {
        let reference = topup.reference().to_string();
        let return_url = self.return_page.as_ref().map(|page| page.link(&reference));
        let order = PaymentRequestView::new(topup, &reference, &self.currency, return_url);
        let body = serde_json::to_vec(&order).map_err(Unavailable::new)?;
        let reply = client.post(&reference, body).await.map_err(Unavailable::new)?;
        let answer = answer(&reply, self.pages).ok_or_else(|| {
            Unavailable::new(format!("an inconclusive answer with status {}", reply.status.as_u16()))
        })?;
        Ok(match answer {
            Answer::Refused => OrderReply::Refused,
            Answer::Taken(page) => {
                // The provider accepted the order regardless, and would name the same page again.
                let page = page.unwrap_or_else(|error| {
                    tracing::error!(topup = %topup.id, reference, %error, "the provider named an unusable payment page");
                    None
                });
                OrderReply::Taken { page }
            }
        })
    }
}

#[async_trait]
impl TopupProvider for TopupWebhook {
    fn intake(&self) -> Intake {
        if self.client.is_some() { Intake::Ordered } else { Intake::Announced }
    }

    async fn order(&self, topup: &Topup) -> OrderAnswer {
        let Some(client) = &self.client else {
            return OrderAnswer::Unknown(Unavailable::new("topups.webhook_url is not set"));
        };
        match self.ask(client, topup).await {
            Ok(reply) => OrderAnswer::Replied(reply),
            Err(unavailable) => OrderAnswer::Unknown(unavailable),
        }
    }
}

/// Returns the meaning of an answer; `None` if it is undecided whether the provider has the order.
///
/// A refusal counts only if the body states it: a bare 404 or 500 may come from an intermediary.
fn answer(reply: &Reply, pages: PaymentPages) -> Option<Answer> {
    let success = reply.status.is_success();
    if success && reply.body.is_empty() {
        return Some(Answer::Taken(Ok(None)));
    }
    let body: ReplyBody = reply.object()?;
    let refused = body.status.as_ref().and_then(Value::as_str) == Some("refused");
    if refused && (success || reply.status.is_client_error()) {
        return Some(Answer::Refused);
    }
    success.then(|| Answer::Taken(body.payment_url.map(|written| page(&written, pages)).transpose()))
}

fn page(written: &Value, pages: PaymentPages) -> Result<PaymentUrl, UnusablePage> {
    let written = written.as_str().ok_or(UnusablePage::NotText)?;
    let page = PaymentUrl::new(written)?;
    if pages.include(&page) { Ok(page) } else { Err(UnusablePage::Plain) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::StatusCode;

    #[test]
    fn topup_provider_answers_are_read_and_unclear_ones_give_no_result() {
        let address = |length: usize| format!("https://pay.example.com/{}", "x".repeat(length - 24));
        let named = |address: &str| format!(r#"{{"payment_url":"{address}"}}"#);
        let page = |address: &str| Some(Answer::Taken(Ok(PaymentUrl::new(address).ok())));
        let nothing = || Some(Answer::Taken(Ok(None)));
        let unusable = |why: UnusablePage| Some(Answer::Taken(Err(why)));
        let malformed = || unusable(TextError::Malformed.into());
        let usual = "https://pay.example.com/1?a=b";
        for (status, body, expected) in [
            (200, "", nothing()),
            (204, "", nothing()),
            (201, "{}", nothing()),
            (200, r#"{"payment_url":null,"id":"x"}"#, nothing()),
            (200, &named(usual), page(usual)),
            (202, r#"{"status":"open","payment_url":"https://pay.example.com/1?a=b"}"#, page(usual)),
            (200, r#"{"status":5,"payment_url":"https://pay.example.com/1?a=b"}"#, page(usual)),
            (200, &named(&address(2_048)), page(&address(2_048))),
            // The provider has the order even if its page is unusable.
            (200, &named(&address(2_049)), unusable(TextError::TooLong(2_048).into())),
            (200, r#"{"payment_url":"javascript:alert(1)"}"#, malformed()),
            (200, r#"{"payment_url":""}"#, unusable(TextError::Empty.into())),
            (200, r#"{"payment_url":7}"#, unusable(UnusablePage::NotText)),
            (200, r#"{"status":"refused"}"#, Some(Answer::Refused)),
            (422, r#"{"status":"refused","reason":"a closed account"}"#, Some(Answer::Refused)),
            // The sender of such an answer may not know the order.
            (200, "OK", None),
            (200, "[]", None),
            (200, r#"{"status":"refused","status":"open"}"#, None),
            (302, "", None),
            (400, "", None),
            (404, r#"{"payment_url":"https://pay.example.com/1"}"#, None),
            (422, r#"["refused"]"#, None),
            (500, r#"{"status":"refused"}"#, None),
            (500, r#"{"payment_url":"https://pay.example.com/1"}"#, None),
        ] {
            let reply =
                Reply { status: StatusCode::from_u16(status).unwrap(), body: Bytes::from(body.to_owned()) };
            assert_eq!(answer(&reply, PaymentPages::All), expected, "{status} {body}");
        }
    }

    #[test]
    fn a_payment_page_that_payers_are_not_shown_is_unusable() {
        let plain = page(&Value::from("http://pay.example.com/1"), PaymentPages::Encrypted);
        assert_eq!(plain, Err(UnusablePage::Plain));
    }
}
