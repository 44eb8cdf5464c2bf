//! A provider that confirms each top-up later by a signed call, and may be asked for the page where the guest pays.

use async_trait::async_trait;
use cuepoint_domain::ids::TopupId;
use cuepoint_domain::money::{Amount, Currency};
use cuepoint_domain::ports::{TopupProvider, Unavailable};
use cuepoint_domain::provider_reference::ProviderReference;
use cuepoint_domain::text::PaymentUrl;
use cuepoint_domain::topup::Charge;
use serde::{Deserialize, Serialize};

use crate::http::money::Number;
use crate::webhooks::{Caller, Reply};

/// Leaves every top-up pending until its provider says more.
pub struct TopupWebhook {
    caller: Option<Caller>,
    currency: Currency,
}

/// What the provider is asked.
#[derive(Serialize)]
struct Order<'a> {
    id: i64,
    reference: String,
    amount: Number,
    currency: &'a str,
}

/// What it answers.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    payment_url: Option<String>,
}

impl TopupWebhook {
    /// The provider behind this caller, or one that is told of top-ups by other means; amounts are in `currency`.
    #[must_use]
    pub fn new(caller: Option<Caller>, currency: Currency) -> Self {
        Self { caller, currency }
    }
}

#[async_trait]
impl TopupProvider for TopupWebhook {
    async fn charge(
        &self,
        topup: TopupId,
        reference: ProviderReference,
        amount: Amount,
    ) -> Result<Charge, Unavailable> {
        let Some(caller) = &self.caller else { return Ok(Charge::Pending { payment_url: None }) };
        let amount = Number::money(&self.currency, amount.money());
        let reference = reference.to_string();
        let order =
            Order { id: topup.get(), reference: reference.clone(), amount, currency: self.currency.code() };
        let body = serde_json::to_vec(&order).map_err(Unavailable::new)?;
        let reply = caller.post(&reference, body).await.map_err(Unavailable::new)?;
        payment_url(&reply).map(|payment_url| Charge::Pending { payment_url })
    }
}

/// The page that an answer names, if it names one.
fn payment_url(reply: &Reply) -> Result<Option<PaymentUrl>, Unavailable> {
    if !reply.status.is_success() {
        return Err(Unavailable::new(format!("the provider answers with status {}", reply.status.as_u16())));
    }
    if reply.body.is_empty() {
        return Ok(None);
    }
    let said: Option<Said> = reply.object();
    let said = said.ok_or_else(|| Unavailable::new("the provider's answer is no object"))?;
    let Some(written) = said.payment_url else { return Ok(None) };
    let page = PaymentUrl::new(&written);
    page.map(Some).map_err(|error| Unavailable::new(format!("the provider names no page: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::web::Bytes;
    use http::StatusCode;

    #[test]
    fn which_page_an_answer_names() {
        let long = format!(r#"{{"payment_url":"https://pay.example.com/{}"}}"#, "x".repeat(2_048));
        for (status, body, page) in [
            (200, "", Ok(None)),
            (201, "{}", Ok(None)),
            (200, r#"{"payment_url":null,"id":"x"}"#, Ok(None)),
            (
                200,
                r#"{"payment_url":"https://pay.example.com/1?a=b"}"#,
                Ok(Some("https://pay.example.com/1?a=b")),
            ),
            (200, r#"{"payment_url":"javascript:alert(1)"}"#, Err(())),
            (200, r#"{"payment_url":""}"#, Err(())),
            (200, &long, Err(())),
            (200, "OK", Err(())),
            (302, "", Err(())),
            (500, r#"{"payment_url":"https://pay.example.com/1"}"#, Err(())),
        ] {
            let reply =
                Reply { status: StatusCode::from_u16(status).unwrap(), body: Bytes::from(body.to_owned()) };
            let named = payment_url(&reply).map(|line| line.map(|line| line.as_str().to_owned()));
            assert_eq!(named.map_err(|_| ()), page.map(|page| page.map(str::to_owned)), "{status} {body}");
        }
    }
}
