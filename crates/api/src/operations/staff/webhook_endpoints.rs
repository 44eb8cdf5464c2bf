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
    /// Those of all operators, newest first.
    GET "/api/v1/operator/webhook-endpoints" "listOperatorWebhookEndpoints" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, list::<AllWebhooks>),
        answers: page::<OperatorWebhookEndpointView>("A page of endpoints, newest first."),
    }

    /// Create a webhook endpoint for all events
    ///
    /// As `createWebhookEndpoint`, with the events of `listOperatorEvents`. They are sent as long as the caller is an
    /// operator.
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
    GET "/api/v1/operator/webhook-endpoints/{id}" "getOperatorWebhookEndpoint" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, show::<AllWebhooks>),
        answers: ok::<OperatorWebhookEndpointData>("The endpoint."),
    }

    /// Change a webhook endpoint for all events
    ///
    /// As `updateWebhookEndpoint`.
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
    /// As `deleteWebhookEndpoint`.
    DELETE "/api/v1/operator/webhook-endpoints/{id}" "deleteOperatorWebhookEndpoint" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, delete::<AllWebhooks>),
        answers: ok::<Empty>("The endpoint is deleted."),
        class: Class::WebhookChanges,
    }

    /// Rotate a webhook secret for all events
    ///
    /// As `rotateWebhookSecret`.
    POST "/api/v1/operator/webhook-endpoints/{id}/rotate" "rotateOperatorWebhookSecret" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, rotate::<AllWebhooks>),
        answers: ok::<OperatorWebhookSecretData>("The endpoint with its new secret."),
        class: Class::WebhookChanges,
        body: json::<RotationBody>(),
    }

    /// Test a webhook endpoint for all events
    ///
    /// As `testWebhookEndpoint`.
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
    /// As `listWebhookAttempts`, with the beginning of each answer.
    GET "/api/v1/operator/webhook-endpoints/{id}/attempts" "listOperatorWebhookAttempts" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, attempts::<AllWebhooks>),
        answers: page::<OperatorWebhookAttemptView>("A page of attempts, newest first."),
    }

    /// Replay events to a webhook endpoint for all events
    ///
    /// As `replayWebhookEvents`.
    POST "/api/v1/operator/webhook-endpoints/{id}/replay" "replayOperatorWebhookEvents" {
        tag: OperatorWebhooks,
        run: authenticated(Action::ManageAllWebhooks, replay::<AllWebhooks>),
        answers: accepted::<OperatorWebhookEndpointData>("The endpoint, which will deliver the events."),
        class: Class::Webhooks,
        body: json::<ReplayBody>(),
        fails: &[Code::ReplayRunning, Code::EndpointInactive, Code::EventsLost],
    }
}
