//! Messages to users.

use core::net::IpAddr;
use std::collections::BTreeSet;
use std::fmt;

use async_trait::async_trait;

use crate::event::Feed;
use crate::ids::{SessionId, UserId, WebhookEndpointId};
use crate::ports::{Token, Unavailable};
use crate::text::{Email, Line};
use crate::timestamp::Timestamp;
use crate::user::personal_token::{PersonalToken, TokenScope};
use crate::webhook::{DisabledReason, WebhookEndpoint};

/// The recipient of a message; its `Debug` output redacts the address, which must not reach a log.
#[derive(Clone, PartialEq, Eq)]
pub enum Recipient {
    /// An e-mail address.
    Email(Email),
    /// A phone number.
    Phone(Line),
}

impl fmt::Debug for Recipient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Email(_) => "Email([hidden])",
            Self::Phone(_) => "Phone([hidden])",
        })
    }
}

/// A change of a user's e-mail address, as both addresses are notified of it.
#[derive(Clone, PartialEq, Eq)]
pub struct EmailNews {
    pub user: UserId,
    /// The address before the change.
    pub before: Email,
    /// The address of the client that made the change, if known.
    pub client: Option<IpAddr>,
    /// When.
    pub at: Timestamp,
    /// Whether the address before the change was notified already.
    pub previous_is_told: bool,
    /// Whether the change restored the previous address.
    pub is_restoration: bool,
}

/// What a user did with a webhook endpoint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndpointAct {
    Created,
    /// They set its URL.
    Moved,
    /// They rotated its secret.
    Rotated,
    Removed,
}

/// An act of a user that is notified, because a thief of their token could have done it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndpointNews {
    /// What they did.
    pub act: EndpointAct,
    pub endpoint: WebhookEndpointId,
    /// The events that it receives.
    pub feed: Feed,
    /// The host of its URL, afterwards.
    pub host: String,
    pub by: UserId,
    /// The address of their client, if known.
    pub client: Option<IpAddr>,
    /// When.
    pub at: Timestamp,
}

/// A webhook endpoint as a message names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndpointMention {
    pub endpoint: WebhookEndpointId,
    /// The events that it receives.
    pub feed: Feed,
    /// The host of its URL.
    pub host: String,
    /// The name of its state.
    pub state: &'static str,
}

impl From<&WebhookEndpoint> for EndpointMention {
    fn from(endpoint: &WebhookEndpoint) -> Self {
        Self {
            endpoint: endpoint.id,
            feed: endpoint.feed,
            host: endpoint.url.authority(),
            state: endpoint.state.name(),
        }
    }
}

/// A personal access token as a message names it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TokenMention {
    /// Its id.
    pub id: SessionId,
    /// What it may read.
    pub scopes: BTreeSet<TokenScope>,
    /// The time at which it expires.
    pub expires_at: Timestamp,
}

impl From<&PersonalToken> for TokenMention {
    fn from(token: &PersonalToken) -> Self {
        Self { id: token.id(), scopes: token.scopes.clone(), expires_at: token.session.expires_at }
    }
}

/// What happened to the password, the sessions or the tokens of a user.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SecurityCause {
    /// The password was changed with the previous one.
    PasswordChanged,
    /// The password was reset by e-mail.
    PasswordReset,
    /// The previous e-mail address was restored, and a password was set.
    EmailRestored,
    /// The user ended all sessions.
    SessionsEnded,
    /// A used refresh token of this session was presented again.
    RefreshTokenReused(SessionId),
    /// The user created this personal access token.
    TokenCreated(SessionId),
}

/// A change of a user's password, sessions or tokens, as the user and operators are notified of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SecurityNews {
    /// What happened.
    pub cause: SecurityCause,
    /// The address of the client that caused it, if known.
    pub client: Option<IpAddr>,
    /// When.
    pub at: Timestamp,
}

/// The content of a message; its `Debug` output redacts secrets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notice {
    /// The code that verifies the address.
    Code(Token),
    /// The code that proves a new address of a user.
    EmailChangeCode(Token),
    /// A notice that another user named this address as their new one, at this time.
    EmailClaimed(Timestamp),
    /// A notice to the previous address that it was replaced.
    EmailReplaced {
        /// The token that restores the address, and until when.
        restore: Option<(Token, Timestamp)>,
        /// The address of the client that made the change, if known.
        client: Option<IpAddr>,
        /// When.
        at: Timestamp,
    },
    /// A notice to the new address that it is now the address of a user.
    EmailAdopted {
        /// The address of the client that made the change, if known.
        client: Option<IpAddr>,
        /// When.
        at: Timestamp,
    },
    PasswordReset(Token),
    /// A notice that the password was changed or reset, with the webhook endpoints and the personal access tokens that
    /// the user still has, so that the user can react to an unauthorized change.
    PasswordChanged(SecurityNews, Vec<EndpointMention>, Vec<TokenMention>),
    /// A notice that a personal access token was created.
    TokenCreated(SecurityNews, TokenMention),
    /// A notice that sessions ended, with the webhook endpoints that were stopped because of that.
    SessionsEnded(SecurityNews, Vec<EndpointMention>),
    /// A notice for operators: sessions of this operator ended. These endpoints for all events have a URL
    /// that the operator set, and stay active.
    OperatorSecured(UserId, SecurityNews, Vec<EndpointMention>),
    /// A notice of an act with a webhook endpoint, so that an unauthorized one is noticed.
    WebhookChanged(EndpointNews),
    /// A notice that a webhook endpoint was disabled.
    WebhookDisabled {
        endpoint: WebhookEndpointId,
        /// Why.
        reason: DisabledReason,
    },
}

/// Sends messages to users.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Notifier: Send + Sync {
    /// Whether this deployment sends messages of this kind.
    fn can_reach(&self, to: &Recipient) -> bool;

    /// Sends a message; when this returns, it was accepted for delivery.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot be sent now, or no transport is configured.
    async fn send(&self, to: &Recipient, notice: &Notice) -> Result<(), Unavailable>;
}
