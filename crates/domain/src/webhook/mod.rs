//! Webhook endpoints: URLs to which the events of a feed are sent.
//!
//! An endpoint has a cursor, the position up to which each of its events was attempted once. An event whose
//! attempt failed becomes a [`FailedDelivery`], which is repeated by a schedule while the cursor goes on.

mod change;
mod creation;
mod delivery;
mod secrets;
mod turn;

use std::collections::BTreeSet;

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use url::{Position as UrlPart, Url};

pub use change::{EndpointChange, EndpointSettings, NewEndpoint, SettingsAuthor};
pub use creation::{CreationKey, KnownCreation, PresentedCreation};
pub use delivery::{Attempt, AttemptError, AttemptOutcome, FailedDelivery, FollowUp};
pub use secrets::{EndpointSecrets, MissingKeys, SealedSecret, SecretKeys, UndecryptableSecret};
pub use turn::{DeliveryKind, Lease, Turn};

use crate::authorization::{Action, Capacity, Ownership};
use crate::event::{EventType, Feed};
use crate::ids::{SessionId, UserId, WebhookEndpointId};
use crate::names::{explained_enum, named_enum};
use crate::operation::Position;
use crate::operation::feature_level::FeatureLevel;
use crate::text::{Line, TextError};
use crate::timestamp::Timestamp;
use crate::user::User;

/// The URL of an endpoint: 1 to 2 048 visible ASCII characters. The adapter that calls URLs decides which may be
/// called, and returns their canonical form, which is stored and shown.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EndpointUrl(String);

impl EndpointUrl {
    /// The maximum length, in characters.
    pub const MAX_CHARACTERS: usize = 2_048;
    /// What is shown instead of the host of a stored URL that cannot be called because it has none.
    const NO_HOST: &str = "an invalid URL";

    /// The URL.
    ///
    /// # Errors
    /// [`TextError`] if it is empty, too long, or contains another character.
    pub fn new(text: &str) -> Result<Self, TextError> {
        match text.len() {
            0 => Err(TextError::Empty),
            length if length > Self::MAX_CHARACTERS => Err(TextError::TooLong(Self::MAX_CHARACTERS)),
            _ if !text.bytes().all(|byte| byte.is_ascii_graphic()) => Err(TextError::Malformed),
            _ => Ok(Self(text.to_owned())),
        }
    }

    /// A stored URL, accepted before, in its canonical form: servers of an earlier version stored the user's spelling,
    /// which can look like the URL of another host. The spelling is kept if the canonical form is too long.
    #[must_use]
    pub fn from_stored(text: String) -> Self {
        let canonical = Url::parse(&text).ok().and_then(|url| Self::new(url.as_str()).ok());
        canonical.unwrap_or(Self(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The host that is called and a port that is not the default, without path and query, which may contain secrets.
    #[must_use]
    pub fn authority(&self) -> String {
        let url = Url::parse(&self.0).ok();
        url.filter(Url::has_host).map_or_else(
            || Self::NO_HOST.to_owned(),
            |url| url[UrlPart::BeforeHost..UrlPart::AfterPort].to_owned(),
        )
    }
}

/// Why an endpoint was disabled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage)]
#[strum(serialize_all = "snake_case")]
pub enum DisabledReason {
    /// The endpoint answered 410 Gone.
    Gone,
    /// Attempts failed for five days without a success in between.
    Failing,
    /// The owner ended all sessions or reset the password.
    Security,
    /// The secret of the endpoint was lost with the keys of the deployment.
    SecretLost,
}

impl DisabledReason {
    /// The feature level from which the reason is written: servers before it cannot read it.
    #[must_use]
    pub const fn feature_level(self) -> FeatureLevel {
        match self {
            Self::Gone | Self::Failing => FeatureLevel::Level0,
            Self::Security | Self::SecretLost => FeatureLevel::Level2,
        }
    }
}

named_enum!(DisabledReason);
explained_enum!(DisabledReason);

/// The state of an endpoint. Its cursor stays where it is unless the endpoint is active.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndpointState {
    /// Events are delivered.
    Active,
    /// Its owner paused it, or another operator if it is for all events.
    Paused,
    /// The service disabled it.
    Disabled {
        /// When.
        at: Timestamp,
        /// Why.
        reason: DisabledReason,
    },
}

impl EndpointState {
    /// The names of all states, as used by stores and clients.
    pub const NAMES: [&'static str; 3] = ["active", "paused", "disabled"];

    /// The name, as used by stores and clients.
    #[must_use]
    pub const fn name(self) -> &'static str {
        let [active, paused, disabled] = Self::NAMES;
        match self {
            Self::Active => active,
            Self::Paused => paused,
            Self::Disabled { .. } => disabled,
        }
    }
}

/// A range of events that are delivered once more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Replay {
    /// The position after which it goes on.
    pub after: Position,
    /// The last position.
    pub until: Position,
}

/// A webhook endpoint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WebhookEndpoint {
    pub id: WebhookEndpointId,
    /// The user who set the URL; events are delivered by their permissions.
    pub owner: UserId,
    /// The events that it receives.
    pub feed: Feed,
    pub url: EndpointUrl,
    /// The session that set the URL, if known.
    pub set_in: Option<SessionId>,
    /// The types of these events; `None` for all.
    pub types: Option<BTreeSet<EventType>>,
    /// A note of its owner.
    pub description: Option<Line>,
    pub state: EndpointState,
    /// The secrets that sign deliveries.
    pub secrets: EndpointSecrets,
    /// The position up to which each event was attempted.
    pub cursor: Position,
    /// The range that is being delivered once more.
    pub replay: Option<Replay>,
    /// The time of the first failed attempt since the last successful one.
    pub failing_since: Option<Timestamp>,
    /// The time of creation.
    pub created_at: Timestamp,
    /// The idempotency key of its creation, if it had one.
    pub creation: Option<CreationKey>,
}

impl WebhookEndpoint {
    /// The maximum number of endpoints of an owner for one feed.
    pub const MAX_PER_OWNER: u32 = 5;
    /// The time since the first failed attempt, without a success in between, after which another failure
    /// disables the endpoint.
    pub const DISABLED_AFTER: time::Duration = time::Duration::hours(120);
    /// The number of newest attempts that are kept.
    pub const ATTEMPTS_KEPT: u32 = 1_000;
    /// The number of newest deliveries that are kept after they were given up.
    pub const GIVEN_UP_KEPT: u32 = 10_000;
    /// A lease ends earlier than this; one that ends later was given by a clock that was ahead, and does not count.
    pub const LEASED_FOR_LESS_THAN: time::Duration = time::Duration::minutes(5);

    /// Whether events may be delivered: it is active, and its owner may read its feed and manage such endpoints, as
    /// with a token.
    #[must_use]
    pub fn may_deliver(&self, owner: &User) -> bool {
        let (ownership, managing) = match self.feed {
            Feed::Own => (Ownership::Own, Action::ManageWebhooks),
            Feed::All => (Ownership::Others, Action::ManageAllWebhooks),
        };
        let may =
            |action: Action| action.is_permitted(Capacity::of(owner.role, owner.dj.is_some()), ownership);
        self.state == EndpointState::Active
            && owner.is_present()
            && owner.suspended_at.is_none()
            && may(self.feed.action())
            && may(managing)
    }

    /// Whether it was disabled because its secret was lost; only a new secret changes that.
    #[must_use]
    pub const fn has_lost_secret(&self) -> bool {
        matches!(self.state, EndpointState::Disabled { reason: DisabledReason::SecretLost, .. })
    }

    /// The state and the time of the first failure after the outcome of an attempt.
    #[must_use]
    pub fn after(&self, outcome: AttemptOutcome, now: Timestamp) -> (EndpointState, Option<Timestamp>) {
        let disabled = |reason| EndpointState::Disabled { at: now, reason };
        if outcome.is_success() {
            return (self.state, None);
        }
        let since = self.failing_since.unwrap_or(now);
        let state = if outcome.is_gone() {
            disabled(DisabledReason::Gone)
        } else if now.since(since) >= Self::DISABLED_AFTER {
            disabled(DisabledReason::Failing)
        } else {
            self.state
        };
        (state, Some(since))
    }
}
