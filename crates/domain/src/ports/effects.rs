//! Adapters for work after a commit: revocations, background jobs and tasks.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use async_trait::async_trait;

use crate::ids::{GigId, UserId, WebhookEndpointId};
use crate::ports::{EmailNews, EndpointNews, SecurityNews, Unavailable};
use crate::text::Email;
use crate::user::session::ClientInfo;

/// The revocation list of this server.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Revocations: Send + Sync {
    /// Reads the revocation list again, within a few seconds, so that this server refuses the revoked tokens
    /// from now on. A failure is logged: the next periodic read has the same effect.
    async fn refresh(&self);
}

/// A background job. Its `Debug` output redacts addresses, and its `Display` output names its kind and its object.
#[derive(Clone, PartialEq, Eq)]
pub enum Job {
    /// Sends a password reset token if the address belongs to an active user.
    SendPasswordReset {
        /// The address.
        email: Email,
        /// The client that requested it.
        client: ClientInfo,
    },
    /// Notifies a user of a change to their password, sessions or tokens. Some changes also notify operators.
    NotifySecured {
        user: UserId,
        /// What happened.
        news: SecurityNews,
    },
    /// Notifies both addresses of a changed or restored e-mail address.
    NotifyEmailChanged(EmailNews),
    /// Notifies the user of an act with a webhook endpoint; for an endpoint for all events, all operators.
    NotifyWebhookChanged(EndpointNews),
    /// Notifies the owner of a webhook endpoint that it was disabled.
    NotifyWebhookDisabled(WebhookEndpointId),
    /// Rejects the open requests of a gig that has ended.
    ReleaseGig(GigId),
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SendPasswordReset { .. } => f.write_str("SendPasswordReset([hidden])"),
            Self::NotifySecured { user, news } => {
                f.debug_struct("NotifySecured").field("user", user).field("cause", &news.cause).finish()
            }
            Self::NotifyEmailChanged(EmailNews { user, .. }) => {
                f.debug_tuple("NotifyEmailChanged").field(user).finish()
            }
            Self::NotifyWebhookChanged(EndpointNews { act, endpoint, .. }) => {
                f.debug_tuple("NotifyWebhookChanged").field(act).field(endpoint).finish()
            }
            Self::NotifyWebhookDisabled(endpoint) => {
                f.debug_tuple("NotifyWebhookDisabled").field(endpoint).finish()
            }
            Self::ReleaseGig(gig) => f.debug_tuple("ReleaseGig").field(gig).finish(),
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SendPasswordReset { .. } => f.write_str("password reset"),
            Self::NotifySecured { user, .. } => write!(f, "security notice to user {user}"),
            Self::NotifyEmailChanged(EmailNews { user, .. }) => {
                write!(f, "notice of a new address of user {user}")
            }
            Self::NotifyWebhookChanged(EndpointNews { endpoint, .. }) => {
                write!(f, "notice of a change of webhook endpoint {endpoint}")
            }
            Self::NotifyWebhookDisabled(endpoint) => {
                write!(f, "notice of the disabled webhook endpoint {endpoint}")
            }
            Self::ReleaseGig(gig) => write!(f, "end of gig {gig}"),
        }
    }
}

/// A bounded queue of background jobs.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait JobQueue: Send + Sync {
    /// Adds a job without waiting. A rejected job is logged.
    ///
    /// # Errors
    /// [`Unavailable`] when the queue is full or the service is stopping.
    fn enqueue(&self, job: Job) -> Result<(), Unavailable>;
}

/// A task that runs to its end even if its request does not wait for it.
pub type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Runs tasks independently of requests.
pub trait TaskSpawner: Send + Sync {
    /// Starts a task.
    fn spawn(&self, task: Task);
}
