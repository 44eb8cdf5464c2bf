//! An event as the body of a call to a webhook endpoint.

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::WebhookMessage;
use cuepoint_domain::webhook::WebhookEndpoint;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::Empty;
use crate::event::FeedEventView;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

/// A test of a webhook endpoint, in the form of an event.
#[derive(Serialize, ToSchema)]
#[schema(as = WebhookTest)]
pub struct WebhookTestView {
    /// Always 0.
    #[schema(minimum = 0, maximum = 0, example = 0)]
    position: i64,
    /// Id of the test, which is also the `webhook-id`.
    #[schema(value_type = String, format = "uuid", example = "019aa6e0-9d20-7e51-8b3c-5d4f7a9b2c10")]
    id: Uuid,
    /// Type, which no event has.
    #[schema(value_type = names::WebhookTestType)]
    r#type: &'static str,
    /// Time of the request for the test.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    created_at: WireTimestamp,
    /// An empty object.
    data: Empty,
}

/// Renders a message as the endpoint's feed shows an event; `None` for an event without an object.
#[must_use]
pub fn event_body(
    endpoint: &WebhookEndpoint,
    message: &WebhookMessage,
    currency: &Currency,
) -> Option<Vec<u8>> {
    match message {
        WebhookMessage::Event(event) => {
            serde_json::to_vec(&FeedEventView::new(endpoint.feed, event, currency)?).ok()
        }
        WebhookMessage::Test { id, at } => {
            let (id, created_at) = (Uuid::from_u128(id.0), WireTimestamp(*at));
            let test =
                WebhookTestView { position: 0, id, r#type: names::WEBHOOK_TEST, created_at, data: Empty {} };
            serde_json::to_vec(&test).ok()
        }
    }
}
