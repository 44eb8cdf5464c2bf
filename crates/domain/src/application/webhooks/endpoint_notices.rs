//! Messages about webhook endpoints and sessions, so that owners notice a thief.

use std::sync::Arc;

use crate::application::environment::Environment;
use crate::event::Feed;
use crate::ids::UserId;
use crate::page::PageRequest;
use crate::ports::{
    EndpointMention, EndpointNews, Notice, Recipient, SecurityCause, SecurityNews, Unavailable,
};
use crate::user::User;
use crate::webhook::WebhookEndpoint;

/// The number of operators in one read.
const BATCH: u32 = 100;

/// Sends messages about webhook endpoints.
#[derive(Clone)]
pub(in crate::application) struct EndpointNotices {
    pub(in crate::application) env: Arc<Environment>,
}

impl EndpointNotices {
    /// Notifies the user of a change. A change of an endpoint for all events goes to all operators, because that
    /// endpoint shows the events of all users.
    pub(in crate::application) async fn changed(&self, news: EndpointNews) -> Result<(), Unavailable> {
        let (feed, by) = (news.feed, news.by);
        let notice = Notice::WebhookChanged(news);
        match feed {
            Feed::All => self.tell_operators(&notice).await,
            Feed::Own => match self.env.people.profile(by).await? {
                Some(profile) => notify_verified(&self.env, &profile.user, &notice).await,
                None => Ok(()),
            },
        }
    }

    /// Notifies a user of a change to their password or sessions, and lists their endpoints. Notifies all operators
    /// of the endpoints for all events that stay active.
    pub(in crate::application) async fn secured(
        &self,
        user: UserId,
        news: SecurityNews,
    ) -> Result<(), Unavailable> {
        let Some(profile) = self.env.people.profile(user).await? else { return Ok(()) };
        let (user, cause) = (profile.user, news.cause);
        // An unverified address may belong to a stranger.
        let to_user = SecurityNews { client: news.client.filter(|_| user.email_verified), ..news };
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
                notify(&self.env, &user, &Notice::PasswordChanged(to_user, both)).await
            }
            SecurityCause::SessionsEnded | SecurityCause::RefreshTokenReused(_) if own.is_empty() => Ok(()),
            SecurityCause::SessionsEnded | SecurityCause::RefreshTokenReused(_) => {
                notify_verified(&self.env, &user, &Notice::SessionsEnded(to_user, own)).await
            }
        };
        if cause == SecurityCause::PasswordChanged || all.is_empty() {
            return told;
        }
        let operators = self.tell_operators(&Notice::OperatorSecured(user.id, news, all)).await;
        told.and(operators)
    }

    async fn endpoints(&self, owner: &User, feed: Feed) -> Result<Vec<WebhookEndpoint>, Unavailable> {
        let all = PageRequest::new(1, BATCH);
        Ok(self.env.endpoints.endpoints(feed, Some(owner.id), all).await?.rows)
    }

    /// Sends a message to each active operator, even to unverified addresses. If one message fails, the others are
    /// still sent.
    async fn tell_operators(&self, notice: &Notice) -> Result<(), Unavailable> {
        let (mut after, mut told) = (None, Ok(()));
        loop {
            let operators = self.env.people.active_operators(after, BATCH).await?;
            let Some(last) = operators.last() else { return told };
            after = Some(last.id);
            for operator in &operators {
                told = notify(&self.env, operator, notice).await.and(told);
            }
        }
    }
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
