//! The operator's own payout system, called with the reference of the withdrawal as idempotency key.

use async_trait::async_trait;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::{PayoutAnswer, PayoutProvider, Unavailable};
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{PayoutUpdate, Withdrawal};
use serde::Deserialize;

use crate::signed_messages::{Reply, WebhookClient, kept_reason};
use cuepoint_views::provider_orders::PayoutOrderView;

/// A provider that sends withdrawals through a payout system.
pub struct PayoutWebhook {
    client: WebhookClient,
    currency: Currency,
}

/// The body of an answer with more information than the receipt of the order.
#[derive(Deserialize)]
struct ReplyBody {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    txid: Option<String>,
    /// Of any type, because a refusal counts regardless of its reason.
    #[serde(default)]
    reason: serde_json::Value,
}

impl PayoutWebhook {
    /// Creates a provider that uses this caller; amounts are in `currency`.
    #[must_use]
    pub fn new(client: WebhookClient, currency: Currency) -> Self {
        Self { client, currency }
    }

    async fn ask(&self, withdrawal: &Withdrawal) -> Result<(PayoutUpdate, Option<Line>), Unavailable> {
        let reference = withdrawal.reference().to_string();
        let order = PayoutOrderView::new(withdrawal, &reference, &self.currency);
        let body = serde_json::to_vec(&order).map_err(Unavailable::new)?;
        let reply = self.client.post(&reference, body).await.map_err(Unavailable::new)?;
        let update = update(&reply).ok_or_else(|| {
            Unavailable::new(format!("an inconclusive answer with status {}", reply.status.as_u16()))
        })?;
        Ok((update, reason(&reply)))
    }
}

#[async_trait]
impl PayoutProvider for PayoutWebhook {
    fn sends(&self) -> bool {
        true
    }

    async fn send(&self, withdrawal: &Withdrawal) -> PayoutAnswer {
        match self.ask(withdrawal).await {
            Ok((update, reason)) => PayoutAnswer::Replied(update, reason),
            Err(unavailable) => PayoutAnswer::Unknown(unavailable),
        }
    }
}

/// Returns the status update in an answer; `None` if it is undecided whether anything was sent.
///
/// A refusal counts only if the body states it: a bare 404 or 500 may come from an intermediary.
fn update(reply: &Reply) -> Option<PayoutUpdate> {
    let success = reply.status.is_success();
    if success && reply.body.is_empty() {
        return Some(PayoutUpdate::Accepted);
    }
    let body: ReplyBody = reply.object()?;
    let txid = || body.txid.as_deref().and_then(|txid| Line::new(txid).ok());
    match body.status.as_deref() {
        Some("refused") if success || reply.status.is_client_error() => Some(PayoutUpdate::Refused),
        None | Some("accepted") if success => Some(PayoutUpdate::Accepted),
        Some("broadcast") if success => Some(PayoutUpdate::Broadcast { txid: txid()? }),
        Some("completed") if success => Some(PayoutUpdate::Completed { txid: txid()? }),
        _ => None,
    }
}

/// Returns the reason in an answer, if it is text.
fn reason(reply: &Reply) -> Option<Line> {
    let body: ReplyBody = reply.object()?;
    kept_reason(body.reason.as_str()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use http::StatusCode;

    #[test]
    fn payout_provider_answers_are_read_and_unclear_ones_give_no_update() {
        let txid = || Line::new("f00d").unwrap();
        let (broadcast, completed) =
            (PayoutUpdate::Broadcast { txid: txid() }, PayoutUpdate::Completed { txid: txid() });
        for (status, body, expected) in [
            (200, "", Some(PayoutUpdate::Accepted)),
            (204, "", Some(PayoutUpdate::Accepted)),
            (200, "{}", Some(PayoutUpdate::Accepted)),
            (202, r#"{"status":"accepted","more":[1]}"#, Some(PayoutUpdate::Accepted)),
            (200, r#"{"status":"broadcast","txid":"f00d"}"#, Some(broadcast)),
            (200, r#"{"status":"completed","txid":" f00d "}"#, Some(completed)),
            (200, r#"{"status":"refused"}"#, Some(PayoutUpdate::Refused)),
            (422, r#"{"status":"refused","reason":"a closed address"}"#, Some(PayoutUpdate::Refused)),
            (422, r#"{"status":"refused","reason":{"code":7}}"#, Some(PayoutUpdate::Refused)),
            // The sender of such an answer may not know the payout.
            (200, "OK", None),
            (200, "[]", None),
            (200, r#"{"status":"done"}"#, None),
            (200, r#"{"status":5}"#, None),
            (422, r#"["refused"]"#, None),
            (200, r#"{"status":"refused","status":"accepted"}"#, None),
            (200, r#"{"status":"broadcast"}"#, None),
            (200, r#"{"status":"completed","txid":""}"#, None),
            (301, "", None),
            (404, "", None),
            (404, r#"{"status":"accepted"}"#, None),
            (409, r#"{"status":"completed","txid":"f00d"}"#, None),
            (500, r#"{"status":"refused"}"#, None),
            (503, "", None),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let reply = Reply { status, body: Bytes::from_static(body.as_bytes()) };
            assert_eq!(update(&reply), expected, "{status} {body}");
        }
    }

    #[test]
    fn refusal_reasons_are_sanitized() {
        let long = format!(r#"{{"status":"refused","reason":"{}"}}"#, "x".repeat(300));
        for (body, kept) in [
            (r#"{"status":"refused","reason":" a closed address "}"#, Some("a closed address".to_owned())),
            (r#"{"status":"refused","reason":"two\nlines"}"#, Some("two\u{fffd}lines".to_owned())),
            (&long, Some(format!("{}…", "x".repeat(252)))),
            (r#"{"status":"refused","reason":" "}"#, None),
            (r#"{"status":"refused","reason":{"code":7}}"#, None),
            (r#"{"status":"refused"}"#, None),
        ] {
            let reply = Reply { status: StatusCode::OK, body: Bytes::from(body.to_owned()) };
            assert_eq!(reason(&reply).map(|line| line.as_str().to_owned()), kept, "{body}");
        }
    }
}
