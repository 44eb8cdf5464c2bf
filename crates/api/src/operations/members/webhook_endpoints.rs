//! Webhook endpoints for the caller's events, and the handlers of all webhook endpoints.

use std::collections::BTreeSet;

use cuepoint_domain::application::{Done, EndpointRequest, ReplayRequest};
use cuepoint_domain::authorization::{Action, Principal};
use cuepoint_domain::event::EventType;
use cuepoint_domain::ids::WebhookEndpointId;
use cuepoint_domain::operation::Position;
use cuepoint_domain::text::{Line, Password};
use cuepoint_domain::user::Field;
use cuepoint_domain::webhook::{EndpointSettings, EndpointUrl, WebhookEndpoint};

use crate::call::{self, ApiCall};
use crate::declaration::{accepted, created, json, object, ok, operations, optional_json, page};
use crate::endpoint::{authenticated, keyed};
use crate::wire::body::body;
use crate::wire::envelope::ApiResponse;
use crate::wire::error::{ApiError, Code};
use crate::wire::kinds;
use crate::wire::validation_texts::{self, Errors};
use cuepoint_transport::rate_limits::Class;
use cuepoint_views::Empty;
use cuepoint_views::webhook_attempt::WebhookAttemptView;
use cuepoint_views::webhook_endpoint::{
    OwnWebhooks, WebhookEndpointData, WebhookEndpointView, WebhookSecretData, WebhookViews,
};

operations! {
    /// List webhook endpoints
    ///
    /// The endpoints for the caller's own events, newest first.
    GET "/api/v1/webhook-endpoints" "listWebhookEndpoints" {
        tag: Webhooks,
        run: authenticated(Action::ManageWebhooks, list::<OwnWebhooks>),
        answers: page::<WebhookEndpointView>("A page of endpoints, newest first."),
    }

    /// Create a webhook endpoint
    ///
    /// The service sends the caller's events from now on to the URL, as signed POST requests. The answer has the
    /// secret that signs them, and `receiveEvent` describes them. A user can have five endpoints for their own
    /// events. A sixth one returns 422 `limit_exceeded`. A wrong password returns 422 for `password`.
    ///
    /// A request that is repeated with its Idempotency-Key returns the current endpoint and its current secret. The
    /// body counts as the same if `url`, `types` and `description` have the same values. The key becomes free after
    /// seven days, or when the endpoint is deleted. If the server key that hashed the body was removed, a
    /// repetition returns 422 `idempotency_key_reused`, and creates nothing.
    ///
    /// **E-mails.** If the deployment sends e-mail, it reports each creation, new URL, rotation and deletion with
    /// the host, the time and the client's address, and it reports a disabled endpoint. The message goes to the
    /// owner, if the address is verified. For an endpoint for all events, it goes to all active operators.
    ///
    /// While the owner is suspended, nothing is sent, and the events wait.
    POST "/api/v1/webhook-endpoints" "createWebhookEndpoint" {
        tag: Webhooks,
        run: keyed(Action::ManageWebhooks, create::<OwnWebhooks>),
        answers: created::<WebhookSecretData>("The endpoint with its secret.").located("/api/v1/webhook-endpoints"),
        class: Class::Webhooks,
        body: object::<NewEndpointBody>(),
        fails: &[Code::LimitExceeded, Code::Conflict],
    }

    /// Show a webhook endpoint
    ///
    /// An endpoint for the caller's own events, without its secret.
    GET "/api/v1/webhook-endpoints/{id}" "getWebhookEndpoint" {
        tag: Webhooks,
        run: authenticated(Action::ManageWebhooks, show::<OwnWebhooks>),
        answers: ok::<WebhookEndpointData>("The endpoint."),
    }

    /// Change a webhook endpoint
    ///
    /// Fields that are missing keep their values. A new `url` and enabling an endpoint need the password. A missing
    /// or wrong one returns 422 for `password`. Deliveries that wait use the new `url` but not the new `types`.
    ///
    /// With `paused: true`, events wait. With `paused: false`, an endpoint that was paused or disabled becomes
    /// active, and the events that waited are sent. If its secret was lost, setting `paused` returns 409
    /// `secret_lost`. Rotate the secret first.
    PATCH "/api/v1/webhook-endpoints/{id}" "updateWebhookEndpoint" {
        tag: Webhooks,
        run: authenticated(Action::ManageWebhooks, change::<OwnWebhooks>),
        answers: ok::<WebhookEndpointData>("The changed endpoint."),
        class: Class::WebhookChanges,
        body: object::<EndpointUpdateBody>(),
        fails: &[Code::Conflict, Code::SecretLost],
    }

    /// Delete a webhook endpoint
    ///
    /// Nothing more is sent. Deliveries that wait for another attempt are dropped. No password is needed.
    DELETE "/api/v1/webhook-endpoints/{id}" "deleteWebhookEndpoint" {
        tag: Webhooks,
        run: authenticated(Action::ManageWebhooks, delete::<OwnWebhooks>),
        answers: ok::<Empty>("The endpoint is deleted."),
        class: Class::WebhookChanges,
    }

    /// Rotate the secret of a webhook endpoint
    ///
    /// Creates a new secret. The previous secrets, at most five, also sign for 24 hours after their replacement, so
    /// that a receiver can change its secret without losing a delivery. If the secret was lost, the rotation pauses
    /// the endpoint. A wrong password returns 422 for `password`.
    POST "/api/v1/webhook-endpoints/{id}/rotate" "rotateWebhookSecret" {
        tag: Webhooks,
        run: authenticated(Action::ManageWebhooks, rotate::<OwnWebhooks>),
        answers: ok::<WebhookSecretData>("The endpoint with its new secret."),
        class: Class::WebhookChanges,
        body: json::<RotationBody>(),
    }

    /// Test a webhook endpoint
    ///
    /// Sends one message of the type `webhook.test`, with the position 0 and empty `data`, even while the endpoint
    /// is paused or disabled. `listWebhookAttempts` shows its outcome, which has no effect on the endpoint. While a
    /// test of the endpoint runs at this server, another one returns 409 `test_running`. While 32 tests run, it
    /// returns 503 `unavailable`.
    POST "/api/v1/webhook-endpoints/{id}/test" "testWebhookEndpoint" {
        tag: Webhooks,
        run: authenticated(Action::ManageWebhooks, test::<OwnWebhooks>),
        answers: accepted::<Empty>("The test will be sent."),
        class: Class::Webhooks,
        body: optional_json::<Empty>(),
        fails: &[Code::TestRunning, Code::SecretLost],
    }

    /// List delivery attempts of a webhook endpoint
    ///
    /// The newest attempt comes first. The newest 1000 attempts are kept.
    GET "/api/v1/webhook-endpoints/{id}/attempts" "listWebhookAttempts" {
        tag: Webhooks,
        run: authenticated(Action::ManageWebhooks, attempts::<OwnWebhooks>),
        answers: page::<WebhookAttemptView>("A page of attempts, newest first."),
    }

    /// Replay events to a webhook endpoint
    ///
    /// Delivers events again, under the same `webhook-id`, each with ten further attempts. There are two forms:
    ///
    /// - `after`, with or without `until`: the events of the endpoint's types in this range, even from before the
    ///   endpoint was created. `events.shown_for_days` does not apply.
    /// - `"failed": true`: all deliveries that were given up, of any type.
    ///
    /// The request can fail in these ways:
    ///
    /// - 409 `endpoint_inactive`: the endpoint is paused or disabled.
    /// - 409 `replay_running`: another range is being replayed.
    /// - 410 `events_lost`: `after` or `until` is a lost position, or `after` is beyond the newest one.
    /// - 422 `validation_failed`: no event of the range was attempted (`after`).
    POST "/api/v1/webhook-endpoints/{id}/replay" "replayWebhookEvents" {
        tag: Webhooks,
        run: authenticated(Action::ManageWebhooks, replay::<OwnWebhooks>),
        answers: accepted::<WebhookEndpointData>("The endpoint, which will deliver the events."),
        class: Class::Webhooks,
        body: json::<ReplayBody>(),
        fails: &[Code::ReplayRunning, Code::EndpointInactive, Code::EventsLost],
    }
}

body! {
    /// A webhook endpoint to create.
    pub struct NewEndpointBody as "NewWebhookEndpoint", example: {
        "url": "https://hooks.example.com/cuepoint", "types": ["music_request.created", "music_request.cancelled"],
        "password": "correct horse"
    } {
        /// URL that receives the events. It begins with `https://` (outside of production also `http://`), and has no
        /// user, password, fragment or backslash. The service calls only public addresses. It stores, shows and calls
        /// the canonical form of the URL.
        url: EndpointUrl = required(kinds::ENDPOINT_URL),
        /// Types of the events that are sent; all types by default.
        types: Option<BTreeSet<EventType>> = optional(kinds::EVENT_TYPES),
        /// A note.
        description: Option<Line> = optional(kinds::LINE),
        /// Password of the caller.
        password: Password = required(kinds::PRESENTED_PASSWORD),
    }
}

body! {
    /// A change of a webhook endpoint. Fields that are missing keep their values.
    pub struct EndpointUpdateBody as "WebhookEndpointUpdate", example: {"types": null, "paused": false} {
        /// URL that receives the events, with the rules of a new endpoint.
        url: Field<EndpointUrl> = change(kinds::ENDPOINT_URL),
        /// Types of the events that are sent; null for all types.
        types: Field<Option<BTreeSet<EventType>>> = change_or_clear(kinds::EVENT_TYPES),
        /// A note; null removes it.
        description: Field<Option<Line>> = change_or_clear(kinds::LINE),
        /// `true` pauses an active endpoint, and leaves a disabled one disabled. `false` enables the endpoint.
        paused: Field<bool> = change(kinds::BOOLEAN),
        /// Password of the caller, required to set another URL and to enable the endpoint.
        password: Option<Password> = optional(kinds::PRESENTED_PASSWORD),
    }
}

body! {
    /// A new secret for a webhook endpoint.
    pub struct RotationBody as "WebhookSecretRotation", example: {"password": "correct horse"} {
        /// Password of the caller.
        password: Password = required(kinds::PRESENTED_PASSWORD),
    }
}

body! {
    /// Events that are delivered again: `after`, with or without `until`, or `failed`.
    pub struct ReplayBody as "NewWebhookReplay", example: {"after": 1200, "until": 1234} {
        /// Only events after this position.
        after: Option<Position> = optional(kinds::POSITION),
        /// Only events up to this position; up to `cursor` of the endpoint by default.
        until: Option<Position> = optional(kinds::POSITION),
        /// `true`: all deliveries that were given up.
        failed: Option<bool> = optional(kinds::BOOLEAN),
    }
}

/// Lists the endpoints.
pub(in crate::operations) async fn list<V: WebhookViews>(
    call: ApiCall,
    principal: Principal,
) -> Result<ApiResponse, ApiError> {
    let paging = call.paging();
    let rows = call.use_cases().webhooks.list(&principal, V::FEED, paging.request()).await?;
    let names = call.names(&principal, rows.rows.iter().filter_map(V::users)).await?;
    call::page("Webhook endpoints.", &paging, &rows, |endpoint| V::endpoint(endpoint, &names))
}

/// Creates an endpoint.
pub(in crate::operations) async fn create<V: WebhookViews>(
    call: ApiCall,
    principal: Principal,
) -> Result<Done<ApiResponse>, ApiError> {
    let NewEndpointBody { url, types, description, password } = call.body()?;
    let asked = EndpointRequest { url, types, description };
    let context = call.context(&principal);
    let created = call.use_cases().webhooks.create(&context, V::FEED, asked, &password);
    let created = call.with_password(&principal, created).await?;
    let Done { value: (endpoint, secret), replayed } = created;
    let names = call.names(&principal, V::users(&endpoint)).await?;
    let data = V::secret_data(&endpoint, &names, secret);
    Ok(Done { value: ApiResponse::new("Webhook endpoint created.", data)?.at(endpoint.id), replayed })
}

/// Shows the endpoint in the path.
pub(in crate::operations) async fn show<V: WebhookViews>(
    call: ApiCall,
    principal: Principal,
) -> Result<ApiResponse, ApiError> {
    let id = call.id(WebhookEndpointId::new)?;
    let endpoint = call.use_cases().webhooks.show(&principal, V::FEED, id).await?;
    let names = call.names(&principal, V::users(&endpoint)).await?;
    ApiResponse::new("Webhook endpoint.", V::data(&endpoint, &names))
}

/// Changes the settings of the endpoint in the path.
pub(in crate::operations) async fn change<V: WebhookViews>(
    call: ApiCall,
    principal: Principal,
) -> Result<ApiResponse, ApiError> {
    let endpoint = found::<V>(&call, &principal).await?;
    let (id, names) = (endpoint.id, call.names(&principal, V::users(&endpoint)).await?);
    let EndpointUpdateBody { url, types, description, paused, password } =
        call.change_of(&V::data(&endpoint, &names))?;
    let settings = EndpointSettings {
        url: given(url),
        types: given(types),
        description: given(description),
        is_paused: given(paused),
    };
    let context = call.context(&principal);
    let webhooks = &call.use_cases().webhooks;
    let changed = webhooks.change(&context, V::FEED, id, settings, password.as_ref());
    let endpoint = match password {
        Some(_) => call.with_password(&principal, changed).await?,
        None => changed.await?,
    };
    let names = call.names(&principal, V::users(&endpoint)).await?;
    ApiResponse::new("Webhook endpoint updated.", V::data(&endpoint, &names))
}

/// Deletes the endpoint in the path.
pub(in crate::operations) async fn delete<V: WebhookViews>(
    call: ApiCall,
    principal: Principal,
) -> Result<ApiResponse, ApiError> {
    let id = call.id(WebhookEndpointId::new)?;
    call.use_cases().webhooks.remove(&call.context(&principal), V::FEED, id).await?;
    ApiResponse::new("Webhook endpoint deleted.", Empty {})
}

/// Gives the endpoint in the path a new secret.
pub(in crate::operations) async fn rotate<V: WebhookViews>(
    call: ApiCall,
    principal: Principal,
) -> Result<ApiResponse, ApiError> {
    let id = found::<V>(&call, &principal).await?.id;
    let RotationBody { password } = call.body()?;
    let context = call.context(&principal);
    let rotated = call.use_cases().webhooks.rotate(&context, V::FEED, id, &password);
    let (endpoint, secret) = call.with_password(&principal, rotated).await?;
    let names = call.names(&principal, V::users(&endpoint)).await?;
    ApiResponse::new("Secret rotated.", V::secret_data(&endpoint, &names, secret))
}

/// Sends a test to the endpoint in the path.
pub(in crate::operations) async fn test<V: WebhookViews>(
    call: ApiCall,
    principal: Principal,
) -> Result<ApiResponse, ApiError> {
    let id = call.id(WebhookEndpointId::new)?;
    call.use_cases().webhooks.test(&call.context(&principal), V::FEED, id).await?;
    ApiResponse::new("Test queued.", Empty {})
}

/// Lists the attempts of the endpoint in the path.
pub(in crate::operations) async fn attempts<V: WebhookViews>(
    call: ApiCall,
    principal: Principal,
) -> Result<ApiResponse, ApiError> {
    let (id, paging) = (call.id(WebhookEndpointId::new)?, call.paging());
    let rows = call.use_cases().webhooks.attempts(&principal, V::FEED, id, paging.request()).await?;
    call::page("Attempts.", &paging, &rows, V::attempt)
}

/// Replays events to the endpoint in the path.
pub(in crate::operations) async fn replay<V: WebhookViews>(
    call: ApiCall,
    principal: Principal,
) -> Result<ApiResponse, ApiError> {
    let id = found::<V>(&call, &principal).await?.id;
    let asked = replayed(call.body()?)?;
    let context = call.context(&principal);
    let endpoint = call.use_cases().webhooks.replay(&context, V::FEED, id, asked).await?;
    let names = call.names(&principal, V::users(&endpoint)).await?;
    ApiResponse::new("Replay started.", V::data(&endpoint, &names))
}

/// The endpoint in the path, which must be visible before the fields are read.
async fn found<V: WebhookViews>(call: &ApiCall, principal: &Principal) -> Result<WebhookEndpoint, ApiError> {
    let id = call.id(WebhookEndpointId::new)?;
    Ok(call.use_cases().webhooks.show(principal, V::FEED, id).await?)
}

/// The value of a field that was given.
fn given<T>(field: Field<T>) -> Option<T> {
    match field {
        Field::Keep => None,
        Field::Set(value) => Some(value),
    }
}

/// The events that a body names in one of the two ways.
fn replayed(body: ReplayBody) -> Result<ReplayRequest, ApiError> {
    let refused = |field, sentence| Err(ApiError::invalid(Errors::one(field, sentence)));
    match body {
        ReplayBody { after: Some(after), until, failed: None | Some(false) } => {
            Ok(ReplayRequest::Range { after, until })
        }
        ReplayBody { after: None, until: None, failed: Some(true) } => Ok(ReplayRequest::Failed),
        ReplayBody { after: Some(_), failed: Some(true), .. } => {
            refused("failed", validation_texts::prohibited_with("failed", "after"))
        }
        ReplayBody { until: Some(_), failed: Some(true), .. } => {
            refused("failed", validation_texts::prohibited_with("failed", "until"))
        }
        ReplayBody { after: None, .. } => {
            refused("after", validation_texts::required_without("after", "failed"))
        }
    }
}
