//! Webhook endpoints for all events, for operators.

use cuepoint_domain::authorization::Action;

use crate::declaration::{accepted, created, json, object, ok, operations, optional_json, page};
use crate::endpoint::{authenticated, keyed};
use crate::operations::members::webhook_endpoints::{
    EndpointUpdateBody, NewEndpointBody, ReplayBody, RotationBody, attempts, change, create, delete, list,
    replay, rotate, show, test,
};
use crate::wire::error::Code;
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::webhook_attempt::OperatorWebhookAttemptView;
use cuepoint_views::webhook_endpoint::{
    AllWebhooks, OperatorWebhookEndpointData, OperatorWebhookEndpointView, OperatorWebhookSecretData,
};

operations! {
    /// List webhook endpoints for all events
    ///
    /// For operators. The endpoints are common to all operators. The newest comes first.
    GET "/api/v1/operator/webhook-endpoints" "listOperatorWebhookEndpoints" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, list::<AllWebhooks>),
        answers: page::<OperatorWebhookEndpointView>("A page of endpoints, newest first."),
    }

    /// Create a webhook endpoint for all events
    ///
    /// For operators. As `createWebhookEndpoint`, with the events of `listOperatorEvents`. The caller becomes the
    /// owner, who can have five of these endpoints. If another operator owns the endpoint by now, a repeated
    /// request returns 409 `endpoint_taken`.
    ///
    /// While the owner is suspended or no longer an operator, nothing is sent, not even a test, and `status` stays
    /// as it is. The events wait until the owner may receive them again, or until another operator sets the URL.
    /// They are then sent within five seconds.
    POST "/api/v1/operator/webhook-endpoints" "createOperatorWebhookEndpoint" {
        tag: OperatorWebhooks,
        run: keyed(Action::ManageAllWebhooks, create::<AllWebhooks>),
        answers: created::<OperatorWebhookSecretData>("The endpoint with its secret.")
            .located("/api/v1/operator/webhook-endpoints"),
        class: Class::Webhooks,
        body: object::<NewEndpointBody>(),
        fails: &[Code::LimitExceeded, Code::Conflict, Code::EndpointTaken],
    }

    /// Show a webhook endpoint for all events
    ///
    /// For operators. The endpoint of any operator, without its secret.
    GET "/api/v1/operator/webhook-endpoints/{id}" "getOperatorWebhookEndpoint" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, show::<AllWebhooks>),
        answers: ok::<OperatorWebhookEndpointData>("The endpoint."),
    }

    /// Change a webhook endpoint for all events
    ///
    /// For operators. As `updateWebhookEndpoint`. An operator who sets `url`, even to the same value, becomes the
    /// owner.
    PATCH "/api/v1/operator/webhook-endpoints/{id}" "updateOperatorWebhookEndpoint" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, change::<AllWebhooks>),
        answers: ok::<OperatorWebhookEndpointData>("The changed endpoint."),
        class: Class::WebhookChanges,
        body: object::<EndpointUpdateBody>(),
        fails: &[Code::Conflict, Code::SecretLost],
    }

    /// Delete a webhook endpoint for all events
    ///
    /// For operators. As `deleteWebhookEndpoint`.
    DELETE "/api/v1/operator/webhook-endpoints/{id}" "deleteOperatorWebhookEndpoint" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, delete::<AllWebhooks>),
        answers: ok::<Empty>("The endpoint is deleted."),
        class: Class::WebhookChanges,
    }

    /// Rotate a webhook secret for all events
    ///
    /// For operators. As `rotateWebhookSecret`.
    POST "/api/v1/operator/webhook-endpoints/{id}/rotate" "rotateOperatorWebhookSecret" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, rotate::<AllWebhooks>),
        answers: ok::<OperatorWebhookSecretData>("The endpoint with its new secret."),
        class: Class::WebhookChanges,
        body: json::<RotationBody>(),
    }

    /// Test a webhook endpoint for all events
    ///
    /// For operators. As `testWebhookEndpoint`.
    POST "/api/v1/operator/webhook-endpoints/{id}/test" "testOperatorWebhookEndpoint" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, test::<AllWebhooks>),
        answers: accepted::<Empty>("The test will be sent."),
        class: Class::Webhooks,
        body: optional_json::<Empty>(),
        fails: &[Code::TestRunning, Code::SecretLost],
    }

    /// List webhook delivery attempts for all events
    ///
    /// For operators. As `listWebhookAttempts`, with the beginning of each answer.
    GET "/api/v1/operator/webhook-endpoints/{id}/attempts" "listOperatorWebhookAttempts" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, attempts::<AllWebhooks>),
        answers: page::<OperatorWebhookAttemptView>("A page of attempts, newest first."),
    }

    /// Replay events to a webhook endpoint for all events
    ///
    /// For operators. As `replayWebhookEvents`.
    POST "/api/v1/operator/webhook-endpoints/{id}/replay" "replayOperatorWebhookEvents" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, replay::<AllWebhooks>),
        answers: accepted::<OperatorWebhookEndpointData>("The endpoint, which will deliver the events."),
        class: Class::Webhooks,
        body: json::<ReplayBody>(),
        fails: &[Code::ReplayRunning, Code::EndpointInactive, Code::EventsLost],
    }
}
