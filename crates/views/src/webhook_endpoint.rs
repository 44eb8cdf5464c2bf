//! Views of webhook endpoints: for their owners, and for operators.

use cuepoint_domain::event::{EventType, Feed};
use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::Token;
use cuepoint_domain::webhook::{self, EndpointState};
use serde::Serialize;
use utoipa::ToSchema;

use crate::user_names::UserNames;
use crate::view;
use crate::webhook_attempt::{OperatorWebhookAttemptView, WebhookAttemptView};
use crate::wire::names;
use crate::wire::time::WireTimestamp;
use crate::wire::write_json::WriteJson;

view! {
    /// A URL that receives events.
    pub struct WebhookEndpointView as WebhookEndpoint of (endpoint: &webhook::WebhookEndpoint) {
        let disabled = match endpoint.state {
            EndpointState::Disabled { at, reason } => Some((at, reason)),
            EndpointState::Active | EndpointState::Paused => None,
        };
        /// Id of the endpoint.
        #[id(example = 4)]
        id: i64 = endpoint.id.get(),
        /// URL that receives the events, in canonical form.
        #[schema(example = "https://hooks.example.com/cuepoint")]
        url: String = endpoint.url.as_str().to_owned(),
        /// Types of the events that are sent; null for all types.
        #[schema(value_type = Option<Vec<names::EventType>>)]
        types: Option<Vec<&'static str>> =
            endpoint.types.as_ref().map(|types| types.iter().copied().map(EventType::name).collect()),
        /// Note of the owner; null if there is none.
        #[schema(example = "Display in the booth")]
        description: Option<String> = endpoint.description.as_ref().map(|line| line.as_str().to_owned()),
        /// Status.
        #[schema(value_type = names::WebhookEndpointStatus, example = "active")]
        status: &'static str = endpoint.state.name(),
        /// Time when the service disabled the endpoint; null unless it is disabled.
        #[timestamp_or_null(example = json!(null))]
        disabled_at: Option<WireTimestamp> = disabled.map(|(at, _)| WireTimestamp(at)),
        /// Reason why the service disabled the endpoint; null unless it is disabled.
        #[schema(value_type = Option<names::WebhookDisabledReason>)]
        disabled_reason: Option<&'static str> = disabled.map(|(_, reason)| reason.name()),
        /// Every event for the endpoint up to this position has been attempted at least once.
        #[schema(minimum = 0, example = 1234)]
        cursor: i64 = endpoint.cursor.get(),
        /// Range of events that is being delivered again; null if there is none.
        replay: Option<WebhookReplayView> = endpoint.replay.map(WebhookReplayView::new),
        /// Time of the first failed attempt since the last successful one; null if none failed.
        #[timestamp_or_null(example = json!(null))]
        failing_since: Option<WireTimestamp> = endpoint.failing_since.map(WireTimestamp),
        /// Time of creation.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(endpoint.created_at),
    }
}

view! {
    /// A range of events that is being delivered again.
    pub struct WebhookReplayView as WebhookReplay of (replay: webhook::Replay) {
        /// The replay continues after this position.
        #[schema(minimum = 0, example = 1200)]
        after: i64 = replay.after.get(),
        /// Last position of the range.
        #[schema(minimum = 1, example = 1234)]
        until: i64 = replay.until.get(),
    }
}

view! {
    /// A URL that receives all events.
    pub struct OperatorWebhookEndpointView as OperatorWebhookEndpoint of (
        endpoint: &webhook::WebhookEndpoint,
        names: &UserNames,
    ) {
        /// The endpoint.
        #[serde(flatten)]
        endpoint: WebhookEndpointView = WebhookEndpointView::new(endpoint),
        /// Id of the operator who set the URL last, even to the same value. Nothing is sent while this user is
        /// suspended or no longer an operator.
        #[id(example = 7)]
        user_id: i64 = endpoint.owner.get(),
        /// Name of this operator; null for an erased user.
        #[schema(example = "Grace")]
        user_name: Option<String> = names.of(endpoint.owner),
    }
}

/// The endpoints for a feed, as their readers see them.
pub trait WebhookViews: 'static {
    /// The feed.
    const FEED: Feed;
    /// An endpoint.
    type Endpoint: Serialize + WriteJson;
    /// An endpoint in an answer.
    type Data: Serialize;
    /// An endpoint with its new secret, in an answer.
    type SecretData: Serialize;
    /// An attempt.
    type Attempt: Serialize + WriteJson;

    /// The users whose names the view of an endpoint shows.
    fn users(endpoint: &webhook::WebhookEndpoint) -> Option<UserId>;

    /// The view of an endpoint.
    fn endpoint(endpoint: &webhook::WebhookEndpoint, names: &UserNames) -> Self::Endpoint;

    /// The view of an endpoint in an answer.
    fn data(endpoint: &webhook::WebhookEndpoint, names: &UserNames) -> Self::Data;

    /// The view of an endpoint with its new secret.
    fn secret_data(endpoint: &webhook::WebhookEndpoint, names: &UserNames, secret: Token)
    -> Self::SecretData;

    /// The view of an attempt.
    fn attempt(attempt: &webhook::Attempt) -> Self::Attempt;
}

/// Defines the answers about the endpoints for a feed.
macro_rules! webhook_views {
    ($(#[doc = $doc:literal])+ $views:ident for $feed:expr, $data:ident, $secret:ident,
        endpoint: $endpoint:ident by $view:expr, attempt: $attempt:ident) => {
        $(#[doc = $doc])+
        pub struct $views;

        /// A webhook endpoint in an answer.
        #[derive(Clone, Debug, Serialize, ToSchema)]
        pub struct $data {
            /// The endpoint.
            webhook_endpoint: $endpoint,
        }

        /// A webhook endpoint with its new secret, in an answer.
        #[derive(Clone, Serialize, ToSchema)]
        pub struct $secret {
            /// The endpoint.
            webhook_endpoint: $endpoint,
            /// Secret that signs what is sent to the endpoint: `whsec_` and the Base64 form of the key. No other
            /// operation shows it.
            #[schema(example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")]
            secret: String,
        }

        impl WebhookViews for $views {
            const FEED: Feed = $feed;
            type Endpoint = $endpoint;
            type Data = $data;
            type SecretData = $secret;
            type Attempt = $attempt;

            fn users(endpoint: &webhook::WebhookEndpoint) -> Option<UserId> {
                (Self::FEED == Feed::All).then_some(endpoint.owner)
            }

            fn endpoint(endpoint: &webhook::WebhookEndpoint, names: &UserNames) -> $endpoint {
                ($view)(endpoint, names)
            }

            fn data(endpoint: &webhook::WebhookEndpoint, names: &UserNames) -> $data {
                $data { webhook_endpoint: ($view)(endpoint, names) }
            }

            fn secret_data(
                endpoint: &webhook::WebhookEndpoint,
                names: &UserNames,
                Token(secret): Token,
            ) -> $secret {
                $secret { webhook_endpoint: ($view)(endpoint, names), secret }
            }

            fn attempt(attempt: &webhook::Attempt) -> $attempt {
                $attempt::new(attempt)
            }
        }
    };
}

webhook_views!(
    /// The endpoints for the caller's events.
    OwnWebhooks for Feed::Own, WebhookEndpointData, WebhookSecretData,
    endpoint: WebhookEndpointView by |endpoint, _| WebhookEndpointView::new(endpoint), attempt: WebhookAttemptView);
webhook_views!(
    /// The endpoints for all events.
    AllWebhooks for Feed::All, OperatorWebhookEndpointData, OperatorWebhookSecretData,
    endpoint: OperatorWebhookEndpointView by OperatorWebhookEndpointView::new, attempt: OperatorWebhookAttemptView);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use cuepoint_domain::ids::WebhookEndpointId;
    use cuepoint_domain::operation::Position;
    use cuepoint_domain::text::Line;
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::webhook::{
        DisabledReason, EndpointUrl, NewEndpoint, Replay, SealedSecret, WebhookEndpoint,
    };

    use super::*;

    const AT: &str = r#""1970-01-01T00:00:00.000000Z""#;

    fn endpoint() -> WebhookEndpoint {
        let new = NewEndpoint {
            owner: UserId::new(7).unwrap(),
            session: None,
            key: None,
            feed: Feed::All,
            url: EndpointUrl::new("https://hooks.example.com").unwrap(),
            types: None,
            description: None,
            secret: SealedSecret("sealed".to_owned()),
            at: Timestamp::EPOCH,
        };
        WebhookEndpoint::new(WebhookEndpointId::new(4).unwrap(), Position::START, new)
    }

    #[test]
    fn endpoints_are_shown_without_their_secrets() {
        assert_eq!(
            serde_json::to_string(&OperatorWebhookEndpointView::new(&endpoint(), &UserNames::default()))
                .unwrap(),
            format!(
                concat!(
                    r#"{{"id":4,"url":"https://hooks.example.com","types":null,"description":null,"#,
                    r#""status":"active","disabled_at":null,"disabled_reason":null,"cursor":0,"replay":null,"#,
                    r#""failing_since":null,"created_at":{},"user_id":7,"user_name":null}}"#
                ),
                AT
            )
        );
        let disabled = WebhookEndpoint {
            types: Some(BTreeSet::from([EventType::TopupCreated, EventType::MusicRequestCreated])),
            description: Some(Line::new("the booth").unwrap()),
            state: EndpointState::Disabled { at: Timestamp::EPOCH, reason: DisabledReason::Failing },
            replay: Some(Replay { after: Position::START, until: Position::new(3).unwrap() }),
            failing_since: Some(Timestamp::EPOCH),
            ..endpoint()
        };
        assert_eq!(
            serde_json::to_string(&WebhookEndpointView::new(&disabled)).unwrap(),
            format!(
                concat!(
                    r#"{{"id":4,"url":"https://hooks.example.com","types":["music_request.created","topup.created"],"#,
                    r#""description":"the booth","status":"disabled","disabled_at":{0},"disabled_reason":"failing","#,
                    r#""cursor":0,"replay":{{"after":0,"until":3}},"failing_since":{0},"created_at":{0}}}"#
                ),
                AT
            )
        );
    }
}
