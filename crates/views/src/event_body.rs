//! An event as the body of a call to a webhook endpoint.

use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::WebhookMessage;
use cuepoint_domain::webhook::WebhookEndpoint;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::event::FeedEventView;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

/// A test, in the form of an event.
#[derive(Serialize)]
struct TestEvent {
    position: i64,
    id: Uuid,
    r#type: &'static str,
    created_at: WireTimestamp,
    data: serde_json::Map<String, Value>,
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
            let test = TestEvent {
                position: 0,
                id,
                r#type: names::WEBHOOK_TEST,
                created_at,
                data: Default::default(),
            };
            serde_json::to_vec(&test).ok()
        }
    }
}
