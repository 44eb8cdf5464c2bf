//! The creation of endpoints, and changes to them.

use std::collections::BTreeSet;

use super::{
    DisabledReason, EndpointSecrets, EndpointState, EndpointUrl, PresentedCreation, Replay, SealedSecret,
    WebhookEndpoint,
};
use crate::event::{EventType, Feed};
use crate::ids::{SessionId, UserId, WebhookEndpointId};
use crate::operation::Position;
use crate::operation::feature_level::FeatureLevel;
use crate::text::Line;
use crate::timestamp::Timestamp;

/// An endpoint to be added. Its cursor begins at the newest position.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewEndpoint {
    pub owner: UserId,
    /// The owner's session.
    pub session: Option<SessionId>,
    /// The idempotency key, if there is one.
    pub key: Option<PresentedCreation>,
    /// The events that it receives.
    pub feed: Feed,
    pub url: EndpointUrl,
    /// The types of these events; `None` for all.
    pub types: Option<BTreeSet<EventType>>,
    /// A note of its owner.
    pub description: Option<Line>,
    pub secret: SealedSecret,
    /// The time of creation.
    pub at: Timestamp,
}

/// New settings; `None` keeps a setting.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct EndpointSettings {
    pub url: Option<EndpointUrl>,
    /// The types of events; `Some(None)` for all.
    pub types: Option<Option<BTreeSet<EventType>>>,
    /// The note of the owner; `Some(None)` removes it.
    pub description: Option<Option<Line>>,
    /// Whether the endpoint is paused; `true` leaves a disabled one disabled, and `false` enables it.
    pub is_paused: Option<bool>,
}

/// Who changes settings.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SettingsAuthor {
    pub user: UserId,
    /// Their session, which must still be live when the change is made.
    pub session: Option<SessionId>,
    /// Whether they have presented their password.
    pub has_password: bool,
}

/// A change of an endpoint, decided on the row that the store has locked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndpointChange {
    /// Its settings change; nothing changes without a password that is [required](WebhookEndpoint::requires_password).
    /// Setting the URL transfers ownership: deliveries stop when that user loses access.
    Settings {
        /// The new settings.
        settings: EndpointSettings,
        /// Who sets them.
        by: SettingsAuthor,
    },
    /// A new secret signs. The previous secrets sign as well for [`EndpointSecrets::PREVIOUS_FOR`]. An endpoint that
    /// was disabled for a lost secret becomes paused, until its owner enables it.
    Rotate {
        /// The new secret.
        secret: SealedSecret,
        /// The time.
        at: Timestamp,
    },
    /// The same secrets, encrypted with another key; nothing changes unless the stored secrets are the expected ones.
    Reseal {
        /// The secrets as they were read.
        expected: EndpointSecrets,
        /// The same secrets, encrypted again.
        resealed: EndpointSecrets,
    },
    /// Replays a range of events; nothing changes during another replay, or unless the endpoint is active.
    Replay(Replay),
    /// No key decrypts the current secret: the endpoint is disabled in any state. Nothing changes if it has another
    /// secret, or below the feature level of [`DisabledReason::SecretLost`], while servers of the previous version may
    /// have the key.
    LoseSecret {
        /// The secret as it was read.
        lost: SealedSecret,
        /// When.
        at: Timestamp,
    },
    /// The service stops deliveries; nothing changes unless the endpoint is active. Below the feature level of the
    /// reason, the endpoint is paused instead.
    Disable {
        /// Why.
        reason: DisabledReason,
        /// When.
        at: Timestamp,
    },
}

impl WebhookEndpoint {
    /// The new endpoint, once the store has given it an id and a cursor.
    #[must_use]
    pub fn new(id: WebhookEndpointId, cursor: Position, new: NewEndpoint) -> Self {
        let NewEndpoint { owner, session, key, feed, url, types, description, secret, at } = new;
        Self {
            id,
            owner,
            feed,
            url,
            set_in: session,
            types,
            description,
            state: EndpointState::Active,
            secrets: EndpointSecrets::new(secret),
            cursor,
            replay: None,
            failing_since: None,
            created_at: at,
            creation: key.map(|key| key.stored()),
        }
    }

    /// Whether a user has to present their password for these settings: for another URL, to take over the ownership,
    /// and to enable an endpoint.
    #[must_use]
    pub fn requires_password(&self, settings: &EndpointSettings, by: UserId) -> bool {
        let sets_url = settings.url.as_ref().is_some_and(|url| *url != self.url || self.owner != by);
        sets_url || (settings.is_paused == Some(false) && self.state != EndpointState::Active)
    }

    /// The endpoint after a change by a deployment of this feature level.
    #[must_use]
    pub fn changed(mut self, change: &EndpointChange, level: FeatureLevel) -> Self {
        match change {
            EndpointChange::Settings { settings, by }
                if by.has_password || !self.requires_password(settings, by.user) =>
            {
                self.set(settings, *by);
            }
            EndpointChange::Rotate { secret, at } => {
                self.secrets = self.secrets.rotated(secret.clone(), *at);
                if self.has_lost_secret() {
                    self.state = EndpointState::Paused;
                }
            }
            EndpointChange::Reseal { expected, resealed } if self.secrets == *expected => {
                self.secrets = resealed.clone();
            }
            EndpointChange::Replay(range) if self.replay.is_none() && self.state == EndpointState::Active => {
                self.replay = Some(*range);
            }
            EndpointChange::Disable { reason, at } if self.state == EndpointState::Active => {
                self.state = if reason.feature_level() <= level {
                    EndpointState::Disabled { at: *at, reason: *reason }
                } else {
                    EndpointState::Paused
                };
            }
            EndpointChange::LoseSecret { lost, at }
                if self.secrets.current == *lost
                    && !self.has_lost_secret()
                    && DisabledReason::SecretLost.feature_level() <= level =>
            {
                self.state = EndpointState::Disabled { at: *at, reason: DisabledReason::SecretLost };
            }
            EndpointChange::Settings { .. }
            | EndpointChange::Reseal { .. }
            | EndpointChange::Replay(_)
            | EndpointChange::LoseSecret { .. }
            | EndpointChange::Disable { .. } => {}
        }
        self
    }

    fn set(&mut self, settings: &EndpointSettings, by: SettingsAuthor) {
        let EndpointSettings { url, types, description, is_paused } = settings;
        if let Some(url) = url {
            let is_other = *url != self.url;
            if is_other || self.owner != by.user {
                (self.owner, self.set_in) = (by.user, by.session);
            }
            if is_other {
                self.url = url.clone();
                self.failing_since = None;
            }
        }
        if let Some(types) = types {
            self.types.clone_from(types);
        }
        if let Some(description) = description {
            self.description.clone_from(description);
        }
        match is_paused {
            _ if self.has_lost_secret() => {}
            // A disabled endpoint already receives nothing, and its reason stays visible.
            Some(true) if self.state == EndpointState::Active => self.state = EndpointState::Paused,
            Some(false) if self.state != EndpointState::Active => {
                self.state = EndpointState::Active;
                self.failing_since = None;
            }
            Some(_) | None => {}
        }
    }
}
