//! An event as the body of a call to a webhook endpoint.

use cuepoint_domain::event::{Event, Feed};
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::WebhookMessage;
use cuepoint_domain::webhook::WebhookEndpoint;
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use crate::event::{EventView, OperatorEventView};
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
        WebhookMessage::Event(event) => shown(endpoint.feed, event, currency),
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

fn shown(feed: Feed, event: &Event, currency: &Currency) -> Option<Vec<u8>> {
    match feed {
        Feed::Own => serde_json::to_vec(&EventView::new(event, currency)?).ok(),
        Feed::All => serde_json::to_vec(&OperatorEventView::new(event, currency)?).ok(),
    }
}
