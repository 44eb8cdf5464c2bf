//! The requests that the service sends: events to webhook endpoints, and orders to payment and payout systems.

use cuepoint_views::event::{EventView, OperatorEventView};
use cuepoint_views::event_body::WebhookTestView;
use cuepoint_views::provider_orders::{
    PaymentAnswerBody, PaymentRequestView, PayoutAnswerBody, PayoutOrderView,
};
use cuepoint_views::wire::schema::{Described, text_of};
use utoipa::openapi::content::Content;
use utoipa::openapi::path::{HttpMethod, OperationBuilder, Parameter, Paths};
use utoipa::openapi::request_body::RequestBodyBuilder;
use utoipa::openapi::response::ResponseBuilder;
use utoipa::openapi::{RefOr, Required, Schema};

use super::answers::ExampleValues;
use super::{SIGNATURE, common};
use crate::declaration::{JSON, Tag};

const ID: &str = "webhook-id";
const EVENT_ID: (&str, &str) = (ID, "`id` of the event, the same for each attempt.");
const DELIVERY_ANSWERS: &[(&str, &str)] = &[
    ("2XX", "The event is delivered."),
    ("410", "The endpoint wants no more events. The service disables it."),
    ("default", "The attempt failed. Another one follows."),
];
const TIMESTAMP: &str = "Time of the attempt, in seconds since 1970.";

/// A request that the service sends.
struct Webhook {
    /// Its key in the document.
    name: &'static str,
    /// Its name for generated receivers.
    id: &'static str,
    tag: Tag,
    /// The summary, and the paragraphs of the description.
    documentation: &'static [&'static str],
    /// The headers beside the signature and its timestamp, with their descriptions.
    headers: &'static [(&'static str, &'static str)],
    body: Described,
    /// The answers that it expects, by their status.
    answers: &'static [(&'static str, &'static str)],
    /// The body of an answer, if it is read.
    answer: Option<Described>,
}

fn webhooks() -> [Webhook; 5] {
    [
        Webhook {
            name: "event",
            id: "receiveEvent",
            tag: Tag::Webhooks,
            documentation: &[
                "Receive an event",
                "",
                "The service sends each event to the webhook endpoints of the users that it involves",
                "(`createWebhookEndpoint`). The signature follows [Standard",
                "Webhooks](https://www.standardwebhooks.com). The header `webhook-signature` has an entry for each",
                "valid secret, separated by spaces. An entry is `v1,` and the Base64 form of an HMAC-SHA256 over",
                "`{webhook-id}.{webhook-timestamp}.{body}`, with the body byte for byte. The key is the",
                "Base64-decoded part of the secret after `whsec_`. Accept a delivery if any entry matches. The",
                "addresses of the callers vary, so rely on the signature.",
                "",
                "An event can arrive more than once: ignore a `webhook-id` that you have processed. Except for tests,",
                "calls to an endpoint are made one at a time. Events arrive in the order of their positions only while",
                "every attempt succeeds.",
                "",
                "An answer counts if it is complete within 15 seconds after the lookup of the host began. At most 64 KiB of",
                "its body are read, and redirects are not followed. A failed delivery is repeated 5 seconds later, and",
                "after each further failure 5 minutes, 30 minutes, 2, 5, 10, 14, 20 and 24 hours later: ten attempts in",
                "all. Each delay varies by up to 20 percent. A longer `Retry-After` counts instead, up to 24 hours. After",
                "the tenth attempt the delivery is given up. Other events are delivered meanwhile.",
            ],
            headers: &[EVENT_ID],
            body: Described::named::<EventView<'_>>(),
            answers: DELIVERY_ANSWERS,
            answer: None,
        },
        Webhook {
            name: "operatorEvent",
            id: "receiveOperatorEvent",
            tag: Tag::OperatorWebhooks,
            documentation: &[
                "Receive an event of any user",
                "",
                "As `receiveEvent`, for the webhook endpoints for all events (`createOperatorWebhookEndpoint`).",
            ],
            headers: &[EVENT_ID],
            body: Described::named::<OperatorEventView<'_>>(),
            answers: DELIVERY_ANSWERS,
            answer: None,
        },
        Webhook {
            name: "webhookTest",
            id: "receiveWebhookTest",
            tag: Tag::Webhooks,
            documentation: &[
                "Receive a test",
                "",
                "`testWebhookEndpoint` and `testOperatorWebhookEndpoint` send it once, signed as an event. Its outcome does",
                "not change the endpoint.",
            ],
            headers: &[(ID, "`id` of the test.")],
            body: Described::named::<WebhookTestView>(),
            answers: &[("2XX", "The test succeeded."), ("default", "The test failed.")],
            answer: None,
        },
        Webhook {
            name: "paymentRequest",
            id: "receivePaymentRequest",
            tag: Tag::Providers,
            documentation: &[
                "Receive a payment request",
                "",
                "The service sends a new top-up to the payment system at `topups.webhook_url`. The first secret of",
                "`topups.webhook_secrets` signs the request. Requests with the same reference are the same payment: without",
                "an answer within 10 seconds, the service repeats the request. A redirect is not followed. The payment",
                "system reports what happens to the payment with `receiveTopupMessage`.",
            ],
            headers: &[
                (ID, "Reference of the top-up, the same for each attempt."),
                ("idempotency-key", "The same value as `webhook-id`."),
            ],
            body: Described::named::<PaymentRequestView<'_>>(),
            answers: &[
                (
                    "2XX",
                    "The payment system has the request. With the status `refused`, it refuses the payment for good. The body is \
                     empty or a JSON object; otherwise the request is repeated.",
                ),
                (
                    "4XX",
                    "With the status `refused`, the payment is refused for good. Otherwise the request is repeated.",
                ),
                (
                    "default",
                    "It is unknown whether the payment system has the request. The request is repeated.",
                ),
            ],
            answer: Some(Described::named::<PaymentAnswerBody>()),
        },
        Webhook {
            name: "payoutOrder",
            id: "receivePayoutOrder",
            tag: Tag::Providers,
            documentation: &[
                "Receive a payout order",
                "",
                "The service sends an approved withdrawal to the payout system at `payouts.webhook_url`. The first secret of",
                "`payouts.webhook_secrets` signs the order. Orders with the same reference are the same payout: without a",
                "conclusive answer within 10 seconds, the service repeats the order. A redirect is not followed. The payout",
                "system reports further progress with `receivePayoutMessage`.",
            ],
            headers: &[
                (ID, "Reference of the withdrawal, the same for each attempt."),
                ("idempotency-key", "The same value as `webhook-id`."),
            ],
            body: Described::named::<PayoutOrderView<'_>>(),
            answers: &[
                (
                    "2XX",
                    "The payout system has the order, or refuses it. The body is empty or a JSON object, and `broadcast` \
                     and `completed` need `txid`; otherwise the order is repeated.",
                ),
                (
                    "4XX",
                    "With the status `refused`, nothing was or will be sent. Otherwise the order is repeated.",
                ),
                ("default", "It is unknown whether anything was sent. The order is repeated."),
            ],
            answer: Some(Described::named::<PayoutAnswerBody>()),
        },
    ]
}

/// The schemas of all bodies that the service sends.
pub(super) fn bodies() -> impl Iterator<Item = Described> {
    webhooks().into_iter().map(|webhook| webhook.body)
}

/// The schemas of all answers that the service reads.
pub(super) fn answers() -> impl Iterator<Item = Described> {
    webhooks().into_iter().filter_map(|webhook| webhook.answer)
}

/// The `webhooks` of the document.
pub(super) fn paths(examples: &ExampleValues) -> Paths {
    let mut paths = Paths::new();
    for webhook in webhooks() {
        let text = text_of(webhook.documentation);
        let (summary, description) = text.split_once("\n\n").unwrap_or((&text, ""));
        let mut operation = OperationBuilder::new()
            .tag(webhook.tag.name())
            .summary(Some(summary))
            .description(Some(description))
            .operation_id(Some(webhook.id))
            .parameters(Some(headers(&webhook)))
            .build();
        let body = RequestBodyBuilder::new().content(JSON, content(webhook.body.used(), examples));
        operation.request_body = Some(RefOr::T(body.required(Some(Required::True)).build()));
        operation.security = Some(vec![common::requirement(SIGNATURE)]);
        for (status, description) in webhook.answers {
            let mut response = ResponseBuilder::new().description(*description).build();
            if let Some(answer) = webhook.answer.filter(|_| *status != "default") {
                response.content.insert(JSON.to_owned(), RefOr::T(content(answer.used(), examples)));
            }
            operation.responses.responses.insert((*status).to_owned(), RefOr::T(response));
        }
        paths.add_path_operation(webhook.name, vec![HttpMethod::Post], operation);
    }
    paths
}

fn headers(webhook: &Webhook) -> Vec<Parameter> {
    let timestamp = ("webhook-timestamp", TIMESTAMP);
    let headers = webhook.headers.iter().copied().chain([timestamp]);
    headers.map(|(name, description)| common::required_header(name, description)).collect()
}

fn content(schema: RefOr<Schema>, examples: &ExampleValues) -> Content {
    let mut content = Content::new(Some(schema.clone()));
    content.example = Some(examples.of(&schema));
    content
}
