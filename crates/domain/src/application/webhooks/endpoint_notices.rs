//! Messages about webhook endpoints, sessions and tokens, so that owners notice a thief.

use core::net::IpAddr;
use std::sync::Arc;

use crate::application::environment::Environment;
use crate::event::Feed;
use crate::ids::{SessionId, UserId};
use crate::page::PageRequest;
use crate::ports::{
    EndpointMention, EndpointNews, Notice, Recipient, SecurityCause, SecurityNews, TokenMention, Unavailable,
};
use crate::user::User;
use crate::webhook::WebhookEndpoint;

/// The number of operators in one read.
const BATCH: u32 = 100;

/// Sends messages about webhook endpoints, sessions and tokens.
#[derive(Clone)]
pub(in crate::application) struct EndpointNotices {
    pub(in crate::application) env: Arc<Environment>,
}

impl EndpointNotices {
    /// Notifies the user of a change. A change of an endpoint for all events goes to all operators, because that
    /// endpoint shows the events of all users.
    pub(in crate::application) async fn changed(&self, news: EndpointNews) -> Result<(), Unavailable> {
        match news.feed {
            Feed::All => {
                let notice = |client| Notice::WebhookChanged(EndpointNews { client, ..news.clone() });
                self.tell_operators(news.client, notice).await
            }
            Feed::Own => match self.env.people.profile(news.by).await? {
                Some(profile) => {
                    notify_verified(&self.env, &profile.user, &Notice::WebhookChanged(news)).await
                }
                None => Ok(()),
            },
        }
    }

    /// Notifies a user of a change to their password, sessions or tokens, and lists their endpoints and, with a new
    /// password, their tokens. Notifies all operators of the endpoints for all events that stay active.
    pub(in crate::application) async fn secured(
        &self,
        user: UserId,
        news: SecurityNews,
    ) -> Result<(), Unavailable> {
        let Some(profile) = self.env.people.profile(user).await? else { return Ok(()) };
        let (user, cause) = (profile.user, news.cause);
        let to_user = SecurityNews { client: shown_to(&user, news.client), ..news };
        if let SecurityCause::TokenCreated(id) = cause {
            return self.token_created(&user, to_user, id).await;
        }
        let (own, all) = (self.endpoints(&user, Feed::Own).await?, self.endpoints(&user, Feed::All).await?);
        let concerned = |endpoint: &&WebhookEndpoint| match cause {
            SecurityCause::RefreshTokenReused(session) => endpoint.set_in == Some(session),
            _ => true,
        };
        let mentions = |endpoints: &[WebhookEndpoint]| -> Vec<EndpointMention> {
            endpoints.iter().filter(concerned).map(EndpointMention::from).collect()
        };
        let (own, all) = (mentions(&own), mentions(&all));
        let told = match cause {
            SecurityCause::PasswordChanged | SecurityCause::PasswordReset | SecurityCause::EmailRestored => {
                let both = own.into_iter().chain(all.iter().cloned()).collect();
                let tokens = self.env.tokens.tokens(user.id, self.env.now()).await?;
                let tokens = tokens.iter().map(TokenMention::from).collect();
                notify(&self.env, &user, &Notice::PasswordChanged(to_user, both, tokens)).await
            }
            SecurityCause::SessionsEnded | SecurityCause::RefreshTokenReused(_) if own.is_empty() => Ok(()),
            SecurityCause::TokenCreated(_) => Ok(()),
            SecurityCause::SessionsEnded | SecurityCause::RefreshTokenReused(_) => {
                notify_verified(&self.env, &user, &Notice::SessionsEnded(to_user, own)).await
            }
        };
        if cause == SecurityCause::PasswordChanged || all.is_empty() {
            return told;
        }
        let notice = |client| Notice::OperatorSecured(user.id, SecurityNews { client, ..news }, all.clone());
        let operators = self.tell_operators(news.client, notice).await;
        told.and(operators)
    }

    /// Notifies a user of a new personal access token, unless it has ended meanwhile.
    async fn token_created(&self, user: &User, news: SecurityNews, id: SessionId) -> Result<(), Unavailable> {
        let tokens = self.env.tokens.tokens(user.id, self.env.now()).await?;
        match tokens.iter().find(|token| token.id() == id) {
            Some(token) => notify_verified(&self.env, user, &Notice::TokenCreated(news, token.into())).await,
            None => Ok(()),
        }
    }

    async fn endpoints(&self, owner: &User, feed: Feed) -> Result<Vec<WebhookEndpoint>, Unavailable> {
        let all = PageRequest::new(1, BATCH);
        Ok(self.env.endpoints.endpoints(feed, Some(owner.id), all).await?.rows)
    }

    /// Sends a message about a change by this client to each active operator, even to unverified addresses. If one
    /// message fails, the others are still sent.
    async fn tell_operators(
        &self,
        client: Option<IpAddr>,
        notice: impl Fn(Option<IpAddr>) -> Notice + Send + Sync,
    ) -> Result<(), Unavailable> {
        let (mut after, mut told) = (None, Ok(()));
        loop {
            let operators = self.env.people.active_operators(after, BATCH).await?;
            let Some(last) = operators.last() else { return told };
            after = Some(last.id);
            for operator in &operators {
                let notice = notice(shown_to(operator, client));
                told = notify(&self.env, operator, &notice).await.and(told);
            }
        }
    }
}

/// The client's address in a message to this user. An unverified address may belong to a stranger.
fn shown_to(user: &User, client: Option<IpAddr>) -> Option<IpAddr> {
    client.filter(|_| user.email_verified)
}

/// Sends a message to a verified address. An unverified address may belong to a stranger, and endpoints must not
/// flood it.
pub(super) async fn notify_verified(
    env: &Environment,
    user: &User,
    notice: &Notice,
) -> Result<(), Unavailable> {
    if user.email_verified { notify(env, user, notice).await } else { Ok(()) }
}

/// Sends a message to a user who was not erased.
async fn notify(env: &Environment, user: &User, notice: &Notice) -> Result<(), Unavailable> {
    let to = Recipient::Email(user.email.clone());
    if !user.is_present() || !env.ports.notifier.can_reach(&to) {
        return Ok(());
    }
    env.ports.notifier.send(&to, notice).await
}
