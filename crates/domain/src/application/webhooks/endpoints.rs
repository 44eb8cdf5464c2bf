//! Webhook endpoints of members, for their own events, and of operators, for all events.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Authorized, Context, Done, Effects, Executor};
use crate::application::users::is_own_password;
use crate::application::webhooks::Deliveries;
use crate::application::webhooks::performed_change::Performed;
use crate::application::webhooks::requests::{EndpointRequest, ReplayRequest, WebhookRefusal};
use crate::application::webhooks::running_tests::{RunningTests, TestRefusal};
use crate::authorization::{Denied, Principal, Revocation, permission};
use crate::event::Feed;
use crate::ids::WebhookEndpointId;
use crate::operation::Position;
use crate::page::{PageRequest, Rows};
use crate::ports::{
    EndpointAct, EndpointAddition, EndpointNews, EndpointUpdate, Job, LowEntropyValue, Token, Unavailable,
    UrlProblem,
};
use crate::security_log::{SecurityEvent, SecurityEventKind};
use crate::text::{Line, MAX_CHARACTERS, Password};
use crate::webhook::{
    Attempt, EndpointChange, EndpointSettings, EndpointState, NewEndpoint, PresentedCreation, Replay,
    SettingsAuthor, WebhookEndpoint,
};

/// The name under which a wrong password is recorded.
const ACT: &str = "webhook endpoint";

/// Manages webhook endpoints. A member's endpoint is visible to the member only; every operator manages the endpoints
/// for all events.
#[derive(Clone)]
pub struct Webhooks {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
    pub(in crate::application) deliveries: Deliveries,
    pub(in crate::application) tests: RunningTests,
}

type Changed<T> = Result<T, CommandError<WebhookRefusal>>;

impl Webhooks {
    /// A page of the endpoints for a feed, the newest first.
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

    /// Creates an endpoint after verifying the principal's password, and returns it with its secret. The endpoint
    /// receives later events only. With the key of an earlier creation, the endpoint of that creation is returned with
    /// its current secret, unless it has another owner now.
    ///
    /// # Errors
    /// [`WebhookRefusal`] and [`Failure`].
    pub async fn create(
        &self,
        context: &Context,
        feed: Feed,
        asked: EndpointRequest,
        password: &Password,
    ) -> Changed<Done<(WebhookEndpoint, Token)>> {
        let env = &self.env;
        let created = self.perform(context, feed, "create_webhook_endpoint", async |principal| {
            let url = env.ports.webhooks.accept_url(&asked.url).map_err(refused_url)?;
            let asked = EndpointRequest { url, ..asked };
            self.check_password(context, principal, password).await?;
            let at = env.now();
            let key = context.key.map(|key| {
                let bodies =
                    env.ports.secrets.keyed_hashes(LowEntropyValue::EndpointBody, &asked.text(), at)?;
                Ok::<_, Failure>(PresentedCreation { scope: key.scope, bodies })
            });
            let id = env.ids.next_webhook_endpoint().await?;
            let (token, secret) = env.ports.webhooks.new_secret(id, at)?;
            let EndpointRequest { url, types, description } = asked;
            let (owner, session) = (principal.user, Some(principal.session));
            let (key, new_secret) = (key.transpose()?, secret.clone());
            let new = NewEndpoint { owner, session, key, feed, url, types, description, secret, at };
            match env.endpoints.add_endpoint(id, &new).await? {
                EndpointAddition::Added(endpoint) => {
                    Ok(Performed::act(*endpoint, EndpointAct::Created, token))
                }
                // The store can find the endpoint that it has just added, after a commit of unknown outcome.
                EndpointAddition::Known(endpoint) if endpoint.secrets.current == new_secret => {
                    Ok(Performed::act(*endpoint, EndpointAct::Created, token))
                }
                EndpointAddition::Known(endpoint) if endpoint.owner != principal.user => {
                    Err(CommandError::Refused(WebhookRefusal::OtherOwner))
                }
                EndpointAddition::Known(endpoint) if endpoint.has_lost_secret() => {
                    Err(CommandError::Refused(WebhookRefusal::SecretLost))
                }
                EndpointAddition::Known(endpoint) => {
                    let token = env.ports.webhooks.current_secret(&endpoint)?;
                    Ok(Performed::unchanged(*endpoint, token))
                }
                EndpointAddition::KeyReused => Err(Failure::KeyReused.into()),
                EndpointAddition::NoRoom => Err(CommandError::Refused(WebhookRefusal::TooMany)),
                EndpointAddition::SessionEnded => Err(session_ended()),
            }
        });
        let Performed { endpoint, value, has_changed, .. } = created.await?;
        Ok(Done { value: (endpoint, value), replayed: !has_changed })
    }

    /// Changes the settings of an endpoint. Another URL, and enabling, need the principal's password; a given password
    /// is always verified.
    ///
    /// # Errors
    /// [`WebhookRefusal`] and [`Failure`].
    pub async fn change(
        &self,
        context: &Context,
        feed: Feed,
        id: WebhookEndpointId,
        settings: EndpointSettings,
        password: Option<&Password>,
    ) -> Changed<WebhookEndpoint> {
        let changed = self.perform(context, feed, "change_webhook_endpoint", async |principal| {
            let endpoint = self.visible(principal, feed, id).await?;
            if settings.is_paused.is_some() && endpoint.has_lost_secret() {
                return Err(CommandError::Refused(WebhookRefusal::SecretLost));
            }
            let url = settings.url.map(|url| self.env.ports.webhooks.accept_url(&url)).transpose();
            let settings = EndpointSettings { url: url.map_err(refused_url)?, ..settings };
            if let Some(password) = password {
                self.check_password(context, principal, password).await?;
            } else if endpoint.requires_password(&settings, principal.user) {
                return Err(CommandError::Refused(WebhookRefusal::PasswordRequired));
            }
            let (user, session) = (principal.user, Some(principal.session));
            let by = SettingsAuthor { user, session, has_password: password.is_some() };
            let change = EndpointChange::Settings { settings: settings.clone(), by };
            let (before, after) = self.changed(&endpoint, change).await?;
            if !by.has_password && before.requires_password(&settings, user) {
                // It was paused, moved or disabled meanwhile.
                return Err(CommandError::Refused(WebhookRefusal::PasswordRequired));
            }
            let has_moved = after.url != before.url || after.owner != before.owner;
            let act = has_moved.then_some(EndpointAct::Moved);
            Ok(Performed::change(&before, after, act))
        });
        changed.await.map(|performed| performed.endpoint)
    }

    /// Removes an endpoint; failed deliveries are dropped.
    pub async fn remove(&self, context: &Context, feed: Feed, id: WebhookEndpointId) -> Changed<()> {
        let removed = self.perform(context, feed, "remove_webhook_endpoint", async |principal| {
            let endpoint = self.visible(principal, feed, id).await?;
            self.env.endpoints.remove_endpoint(endpoint.id).await?;
            Ok(Performed::act(endpoint, EndpointAct::Removed, ()))
        });
        removed.await.map(drop)
    }

    /// Gives an endpoint a new secret after verifying the principal's password, and returns it. The previous secrets
    /// sign as well for a day.
    ///
    /// # Errors
    /// [`WebhookRefusal`] and [`Failure`].
    pub async fn rotate(
        &self,
        context: &Context,
        feed: Feed,
        id: WebhookEndpointId,
        password: &Password,
    ) -> Changed<(WebhookEndpoint, Token)> {
        let rotated = self.perform(context, feed, "rotate_webhook_secret", async |principal| {
            let endpoint = self.visible(principal, feed, id).await?;
            self.check_password(context, principal, password).await?;
            let at = self.env.now();
            let (token, secret) = self.env.ports.webhooks.new_secret(id, at)?;
            let (_, rotated) = self.changed(&endpoint, EndpointChange::Rotate { secret, at }).await?;
            self.deliveries.note_new_secret(id);
            Ok(Performed::act(rotated, EndpointAct::Rotated, token))
        });
        rotated.await.map(|performed| (performed.endpoint, performed.value))
    }

    /// Sends a test to an endpoint in its own task, so that a slow endpoint cannot block the job queue.
    ///
    /// # Errors
    /// [`WebhookRefusal::Test`] and [`Failure`].
    pub async fn test(&self, context: &Context, feed: Feed, id: WebhookEndpointId) -> Changed<()> {
        let begun = self.perform(context, feed, "test_webhook_endpoint", async |principal| {
            let endpoint = self.visible(principal, feed, id).await?;
            let running = self.tests.begin(id).map_err(refused_test)?;
            let deliveries = self.deliveries.clone();
            self.env.ports.tasks.spawn(Box::pin(async move {
                // If it cannot be sent, no attempt is listed.
                drop(deliveries.test(id).await);
                drop(running);
            }));
            Ok(Performed::recorded(endpoint, ()))
        });
        begun.await.map(drop)
    }

    /// Replays events.
    ///
    /// # Errors
    /// [`WebhookRefusal::Inactive`], [`WebhookRefusal::Lost`], [`WebhookRefusal::EmptyRange`],
    /// [`WebhookRefusal::ReplayRunning`] and [`Failure`].
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
            let inactive = CommandError::Refused(WebhookRefusal::Inactive);
            let ReplayRequest::Range { after, until } = asked else {
                if endpoint.state != EndpointState::Active {
                    return Err(inactive);
                }
                env.endpoints.repeat_given_up(endpoint.id, env.now()).await?;
                return Ok(Performed::recorded(endpoint, ()));
            };
            let lost = self.lost_after(after, until).await?;
            if let Some(continue_after) = lost {
                return Err(CommandError::Refused(WebhookRefusal::Lost { continue_after }));
            }
            let until = until.unwrap_or(Position::END).min(endpoint.cursor);
            if after >= until {
                return Err(CommandError::Refused(WebhookRefusal::EmptyRange));
            }
            let change = EndpointChange::Replay(Replay { after, until });
            let (before, changed) = self.changed(&endpoint, change).await?;
            if before.state != EndpointState::Active {
                return Err(inactive);
            }
            if before.replay.is_some() {
                return Err(CommandError::Refused(WebhookRefusal::ReplayRunning));
            }
            Ok(Performed::recorded(changed, ()))
        });
        begun.await.map(|performed| performed.endpoint)
    }

    /// The position after which the owner has to continue, if the range contains a position of a lost commit. A range
    /// may end after the newest position.
    async fn lost_after(
        &self,
        after: Position,
        until: Option<Position>,
    ) -> Result<Option<Position>, Unavailable> {
        let read = async |position| self.env.operations.operations(None, position, 0).await;
        let lost = read(after).await?.lost_after(after);
        match until {
            Some(until) if lost.is_none() => Ok(until.lost_after(Position::END, read(until).await?.gap)),
            _ => Ok(lost),
        }
    }

    /// Performs an act on an endpoint for a feed, records the act in the security log, and enqueues the notice of it.
    async fn perform<T>(
        &self,
        context: &Context,
        feed: Feed,
        name: &'static str,
        change: impl AsyncFnOnce(&Principal) -> Changed<Performed<T>>,
    ) -> Changed<Performed<T>> {
        let executor = &self.executor;
        let recorded = async |principal: &Principal, effects: &mut Effects| {
            let performed = change(principal).await?;
            if performed.has_changed {
                self.record(context, principal, name, &performed).await;
            }
            if let Some(act) = performed.act {
                let news = self.news(context, principal, act, &performed.endpoint);
                effects.enqueue(Job::NotifyWebhookChanged(news));
            }
            Ok(performed)
        };
        match feed {
            Feed::Own => {
                let change =
                    async |_: Authorized<_, permission::ManageWebhooks>, principal: &_, effects: &mut _| {
                        recorded(principal, effects).await
                    };
                executor.perform(context, change).await
            }
            Feed::All => {
                let change =
                    async |_: Authorized<_, permission::ManageAllWebhooks>,
                           principal: &_,
                           effects: &mut _| { recorded(principal, effects).await };
                executor.perform(context, change).await
            }
        }
    }

    fn news(
        &self,
        context: &Context,
        principal: &Principal,
        act: EndpointAct,
        endpoint: &WebhookEndpoint,
    ) -> EndpointNews {
        EndpointNews {
            act,
            endpoint: endpoint.id,
            feed: endpoint.feed,
            host: endpoint.url.authority(),
            by: principal.user,
            client: context.client.address,
            at: self.env.now(),
        }
    }

    async fn check_password(
        &self,
        context: &Context,
        principal: &Principal,
        password: &Password,
    ) -> Changed<()> {
        match is_own_password(&self.env, context, principal, password, ACT).await? {
            true => Ok(()),
            false => Err(CommandError::Refused(WebhookRefusal::WrongPassword)),
        }
    }

    async fn record<T>(
        &self,
        context: &Context,
        principal: &Principal,
        name: &'static str,
        Performed { endpoint, transitions, .. }: &Performed<T>,
    ) {
        let kind = match endpoint.feed {
            Feed::Own => SecurityEventKind::WebhookEndpointChanged,
            Feed::All => SecurityEventKind::OperatorAction,
        };
        let event = SecurityEvent::by(principal, kind, context.client.clone(), self.env.now());
        let detail = format!("{name}: endpoint {} at {}{transitions}", endpoint.id, endpoint.url.authority());
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

    /// Changes an endpoint, and returns it as it was and as it is.
    async fn changed(
        &self,
        endpoint: &WebhookEndpoint,
        change: EndpointChange,
    ) -> Changed<(WebhookEndpoint, WebhookEndpoint)> {
        match self.env.endpoints.change_endpoint(endpoint.id, &change).await? {
            EndpointUpdate::Done { before, after } => Ok((*before, *after)),
            EndpointUpdate::Missing => Err(Failure::NotFound.into()),
            EndpointUpdate::SessionEnded => Err(session_ended()),
        }
    }
}

fn session_ended() -> CommandError<WebhookRefusal> {
    Failure::Revoked(Revocation::SessionEnded).into()
}

fn refused_url(problem: UrlProblem) -> CommandError<WebhookRefusal> {
    CommandError::Refused(WebhookRefusal::Url(problem))
}

const fn refused_test(refusal: TestRefusal) -> CommandError<WebhookRefusal> {
    CommandError::Refused(WebhookRefusal::Test(refusal))
}

/// Consults the matrix about the endpoints for a feed.
fn authorize(feed: Feed, principal: &Principal) -> Result<(), Denied> {
    match feed {
        Feed::Own => Authorized::<_, permission::ManageWebhooks>::own(principal).map(drop),
        Feed::All => Authorized::<(), permission::ManageAllWebhooks>::all(principal).map(drop),
    }
}
