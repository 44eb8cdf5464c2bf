//! Webhook endpoints of members, for the events that concern them, and of operators, for all events.

use std::collections::BTreeSet;
use std::sync::Arc;

use thiserror::Error;

use crate::account::security_log::{EventKind, SecurityEvent};
use crate::application::jobs::Deliveries;
use crate::application::{Authorized, CommandError, Context, Environment, Executor, Failure};
use crate::authorization::{Denied, Principal, permission};
use crate::event::{EventType, Feed};
use crate::ids::WebhookEndpointId;
use crate::ledger::Position;
use crate::page::{PageRequest, Rows};
use crate::ports::{Job, Token, UrlProblem};
use crate::text::{Line, MAX_CHARACTERS};
use crate::webhook::{
    Attempt, EndpointChange, EndpointSettings, EndpointUrl, NewEndpoint, Replay, WebhookEndpoint,
};

/// The endpoint that a principal asks for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndpointRequest {
    /// The URL.
    pub url: EndpointUrl,
    /// The types of events; `None` for all.
    pub types: Option<BTreeSet<EventType>>,
    /// A note of the owner.
    pub description: Option<Line>,
}

/// The events that are to be delivered once more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReplayRequest {
    /// The attempted events after a position, up to another position if one is given.
    Range {
        /// The position before the first event.
        after: Position,
        /// The position of the last event.
        until: Option<Position>,
    },
    /// Those whose delivery was given up.
    Failed,
}

/// Why a change of an endpoint is refused.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
pub enum WebhookRefusal {
    /// The URL may not be called.
    #[error(transparent)]
    Url(UrlProblem),
    /// The principal has as many endpoints as are permitted.
    #[error("there are {} endpoints already", WebhookEndpoint::MAX_PER_OWNER)]
    TooMany,
    /// The range of a replay is empty, or none of its events was attempted yet.
    #[error("no attempted event is in the range")]
    EmptyRange,
    /// Another range is being replayed.
    #[error("another range is being replayed")]
    ReplayRunning,
}

/// Manages webhook endpoints. Those of a member are concealed from others; those for all events are common to
/// operators.
#[derive(Clone)]
pub struct Webhooks {
    pub(super) env: Arc<Environment>,
    pub(super) executor: Executor,
    pub(super) deliveries: Deliveries,
}

type Changed<T> = Result<T, CommandError<WebhookRefusal>>;

impl Webhooks {
    /// A page of the endpoints for a feed, the newest first.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn list(
        &self,
        principal: &Principal,
        feed: Feed,
        page: PageRequest,
    ) -> Result<Rows<WebhookEndpoint>, Failure> {
        authorize(feed, principal)?;
        Ok(self.env.endpoints.endpoints(feed, feed.concerning(principal.user), page).await?)
    }

    /// An endpoint.
    ///
    /// # Errors
    /// [`Failure::NotFound`] also for an endpoint of another feed or member.
    pub async fn show(
        &self,
        principal: &Principal,
        feed: Feed,
        id: WebhookEndpointId,
    ) -> Result<WebhookEndpoint, Failure> {
        authorize(feed, principal)?;
        self.visible(principal, feed, id).await
    }

    /// A page of the attempts of an endpoint, the newest first.
    ///
    /// # Errors
    /// As [`Webhooks::show`].
    pub async fn attempts(
        &self,
        principal: &Principal,
        feed: Feed,
        id: WebhookEndpointId,
        page: PageRequest,
    ) -> Result<Rows<Attempt>, Failure> {
        let endpoint = self.show(principal, feed, id).await?;
        Ok(self.env.endpoints.attempts(endpoint.id, page).await?)
    }

    /// Creates an endpoint, and returns it with its secret. It receives the events from now on.
    ///
    /// # Errors
    /// [`WebhookRefusal::Url`], [`WebhookRefusal::TooMany`] and [`Failure`].
    pub async fn create(
        &self,
        context: &Context,
        feed: Feed,
        asked: EndpointRequest,
    ) -> Changed<(WebhookEndpoint, Token)> {
        let env = &self.env;
        self.perform(context, feed, "create_webhook_endpoint", async |principal| {
            let EndpointRequest { url, types, description } = asked;
            let url = env.webhooks.accept_url(&url).map_err(refused_url)?;
            let at = env.now();
            let (token, secret) = env.webhooks.new_secret(at)?;
            let new = NewEndpoint { owner: principal.user, feed, url, types, description, secret, at };
            let added = env.endpoints.add_endpoint(&new).await?;
            let endpoint = added.ok_or(CommandError::Refused(WebhookRefusal::TooMany))?;
            drop(env.jobs.enqueue(Job::NotifyWebhookCreated(endpoint.id)));
            Ok((endpoint, token))
        })
        .await
    }

    /// Changes the settings of an endpoint.
    ///
    /// # Errors
    /// [`WebhookRefusal::Url`] and [`Failure`].
    pub async fn change(
        &self,
        context: &Context,
        feed: Feed,
        id: WebhookEndpointId,
        settings: EndpointSettings,
    ) -> Changed<WebhookEndpoint> {
        let changed = self.perform(context, feed, "change_webhook_endpoint", async |principal| {
            let endpoint = self.visible(principal, feed, id).await?;
            let url = settings.url.map(|url| self.env.webhooks.accept_url(&url)).transpose();
            let settings = EndpointSettings { url: url.map_err(refused_url)?, ..settings };
            let change = EndpointChange::Settings { settings, by: principal.user };
            Ok((self.changed(&endpoint, change).await?, ()))
        });
        changed.await.map(|(endpoint, ())| endpoint)
    }

    /// Removes an endpoint; deliveries that wait for another attempt are dropped.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn remove(&self, context: &Context, feed: Feed, id: WebhookEndpointId) -> Changed<()> {
        let removed = self.perform(context, feed, "remove_webhook_endpoint", async |principal| {
            let endpoint = self.visible(principal, feed, id).await?;
            self.env.endpoints.remove_endpoint(endpoint.id).await?;
            Ok((endpoint, ()))
        });
        removed.await.map(drop)
    }

    /// Gives an endpoint a new secret and returns it. The previous secrets sign beside it for a day.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn rotate(
        &self,
        context: &Context,
        feed: Feed,
        id: WebhookEndpointId,
    ) -> Changed<(WebhookEndpoint, Token)> {
        self.perform(context, feed, "rotate_webhook_secret", async |principal| {
            let endpoint = self.visible(principal, feed, id).await?;
            let at = self.env.now();
            let (token, secret) = self.env.webhooks.new_secret(at)?;
            Ok((self.changed(&endpoint, EndpointChange::Rotate { secret, at }).await?, token))
        })
        .await
    }

    /// Has a test sent to an endpoint, by a task of its own: a slow endpoint would keep the job queue waiting.
    ///
    /// # Errors
    /// [`Failure`].
    pub async fn test(&self, context: &Context, feed: Feed, id: WebhookEndpointId) -> Changed<()> {
        let begun = self.perform(context, feed, "test_webhook_endpoint", async |principal| {
            let endpoint = self.visible(principal, feed, id).await?;
            let deliveries = self.deliveries.clone();
            // If it cannot be sent, no attempt is listed.
            self.env.tasks.spawn(Box::pin(async move { drop(deliveries.test(id).await) }));
            Ok((endpoint, ()))
        });
        begun.await.map(drop)
    }

    /// Has events delivered once more.
    ///
    /// # Errors
    /// [`WebhookRefusal::EmptyRange`], [`WebhookRefusal::ReplayRunning`] and [`Failure`].
    pub async fn replay(
        &self,
        context: &Context,
        feed: Feed,
        id: WebhookEndpointId,
        asked: ReplayRequest,
    ) -> Changed<WebhookEndpoint> {
        let env = &self.env;
        let begun = self.perform(context, feed, "replay_webhook_events", async |principal| {
            let endpoint = self.visible(principal, feed, id).await?;
            let ReplayRequest::Range { after, until } = asked else {
                env.endpoints.repeat_given_up(endpoint.id, env.now()).await?;
                return Ok((endpoint, ()));
            };
            let until = until.unwrap_or(Position::END).min(endpoint.cursor);
            if after >= until {
                return Err(CommandError::Refused(WebhookRefusal::EmptyRange));
            }
            let range = Replay { after, until };
            let changed = self.changed(&endpoint, EndpointChange::Replay(range)).await?;
            if changed.replay != Some(range) || endpoint.replay == Some(range) {
                return Err(CommandError::Refused(WebhookRefusal::ReplayRunning));
            }
            Ok((changed, ()))
        });
        begun.await.map(|(endpoint, ())| endpoint)
    }

    /// Makes a change of an endpoint for a feed, and records it in the security log by this name.
    async fn perform<T>(
        &self,
        context: &Context,
        feed: Feed,
        name: &'static str,
        change: impl AsyncFnOnce(&Principal) -> Changed<(WebhookEndpoint, T)>,
    ) -> Changed<(WebhookEndpoint, T)> {
        let executor = &self.executor;
        let recorded = async |principal: &Principal| {
            let changed = change(principal).await?;
            self.record(context, principal, name, &changed.0).await;
            Ok(changed)
        };
        match feed {
            Feed::Own => {
                let change = async |_: Authorized<_, permission::ManageWebhooks>,
                                    principal: &_,
                                    _: &mut _| { recorded(principal).await };
                executor.perform(context, change).await
            }
            Feed::All => {
                let change = async |_: Authorized<_, permission::ManageAllWebhooks>,
                                    principal: &_,
                                    _: &mut _| { recorded(principal).await };
                executor.perform(context, change).await
            }
        }
    }

    async fn record(
        &self,
        context: &Context,
        principal: &Principal,
        name: &'static str,
        endpoint: &WebhookEndpoint,
    ) {
        let kind = match endpoint.feed {
            Feed::Own => EventKind::WebhookEndpointChanged,
            Feed::All => EventKind::OperatorAction,
        };
        let event = SecurityEvent::by(principal, kind, context.client.clone(), self.env.now());
        let detail = format!("{name}: endpoint {} at {}", endpoint.id, endpoint.url.authority());
        let detail = Some(Line::from_stored(detail.chars().take(MAX_CHARACTERS).collect()));
        self.env.security_audit.add(SecurityEvent { detail, ..event }).await;
    }

    /// An endpoint for this feed that the principal may see.
    async fn visible(
        &self,
        principal: &Principal,
        feed: Feed,
        id: WebhookEndpointId,
    ) -> Result<WebhookEndpoint, Failure> {
        let endpoint = self.env.endpoints.endpoint(id).await?;
        let is_visible = |endpoint: &WebhookEndpoint| {
            let owner = feed.concerning(principal.user);
            endpoint.feed == feed && owner.is_none_or(|owner| owner == endpoint.owner)
        };
        endpoint.filter(is_visible).ok_or(Failure::NotFound)
    }

    async fn changed(&self, endpoint: &WebhookEndpoint, change: EndpointChange) -> Changed<WebhookEndpoint> {
        let changed = self.env.endpoints.change_endpoint(endpoint.id, &change).await?;
        Ok(changed.ok_or(Failure::NotFound)?)
    }
}

fn refused_url(problem: UrlProblem) -> CommandError<WebhookRefusal> {
    CommandError::Refused(WebhookRefusal::Url(problem))
}

/// Consults the matrix about the endpoints for a feed.
fn authorize(feed: Feed, principal: &Principal) -> Result<(), Denied> {
    match feed {
        Feed::Own => Authorized::<_, permission::ManageWebhooks>::own(principal).map(drop),
        Feed::All => Authorized::<(), permission::ManageAllWebhooks>::all(principal).map(drop),
    }
}
