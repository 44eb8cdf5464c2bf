//! Webhook endpoints; the data of the state is in `disabled_at` and `disabled_reason`.

use std::collections::BTreeSet;
use std::iter::once;

use cuepoint_domain::event::{EventType, Feed};
use cuepoint_domain::ids::{SessionId, UserId, WebhookEndpointId};
use cuepoint_domain::operation::{KeyScope, Position};
use cuepoint_domain::text::Line;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::TokenHash;
use cuepoint_domain::webhook::{
    CreationKey, DisabledReason, EndpointSecrets, EndpointState, EndpointUrl, NewEndpoint, Replay,
    SealedSecret, WebhookEndpoint,
};

use super::{Corrupt, known};
use crate::schema::{StoredWebhookEndpoint, StoredWebhookEndpointRecord};

/// The names of the states.
const ACTIVE: &str = EndpointState::Active.name();
const PAUSED: &str = EndpointState::Paused.name();
const DISABLED: &str = "disabled";

impl StoredWebhookEndpointRecord {
    /// Converts a new endpoint to its row.
    #[must_use]
    pub fn new(new: &NewEndpoint, cursor: Position) -> Self {
        Self {
            owner_id: new.owner.get(),
            feed: new.feed.name().to_owned(),
            url: new.url.as_str().to_owned(),
            types: new.types.as_ref().map(types_text),
            description: new.description.as_ref().map(|description| description.as_str().to_owned()),
            state: ACTIVE.to_owned(),
            disabled_at: None,
            disabled_reason: None,
            secrets: secrets_text(&EndpointSecrets::new(new.secret.clone())),
            cursor: cursor.get(),
            replay_after: None,
            replay_until: None,
            failing_since: None,
            created_at: new.at,
            url_session_id: new.session.map(SessionId::get),
            creation_key: new.key.as_ref().map(|key| key.scope.0.to_vec()),
            creation_body: new.key.as_ref().map(|key| key.bodies.current.0.to_vec()),
        }
    }

    /// Converts an endpoint to its row.
    fn of(endpoint: &WebhookEndpoint) -> Self {
        let disabled = match endpoint.state {
            EndpointState::Disabled { at, reason } => Some((at, reason.name().to_owned())),
            EndpointState::Active | EndpointState::Paused => None,
        };
        let (disabled_at, disabled_reason) = disabled.unzip();
        let description = endpoint.description.as_ref();
        Self {
            owner_id: endpoint.owner.get(),
            feed: endpoint.feed.name().to_owned(),
            url: endpoint.url.as_str().to_owned(),
            types: endpoint.types.as_ref().map(types_text),
            description: description.map(|description| description.as_str().to_owned()),
            state: endpoint.state.name().to_owned(),
            disabled_at,
            disabled_reason,
            secrets: secrets_text(&endpoint.secrets),
            cursor: endpoint.cursor.get(),
            replay_after: endpoint.replay.map(|replay| replay.after.get()),
            replay_until: endpoint.replay.map(|replay| replay.until.get()),
            failing_since: endpoint.failing_since,
            created_at: endpoint.created_at,
            url_session_id: endpoint.set_in.map(SessionId::get),
            creation_key: endpoint.creation.map(|key| key.scope.0.to_vec()),
            creation_body: endpoint.creation.map(|key| key.body.0.to_vec()),
        }
    }

    fn state(&self) -> Result<EndpointState, Corrupt> {
        let reason = self.disabled_reason.as_deref();
        match (self.state.as_str(), self.disabled_at, reason) {
            (ACTIVE, None, None) => Ok(EndpointState::Active),
            (PAUSED, None, None) => Ok(EndpointState::Paused),
            (DISABLED, Some(at), Some(reason)) => {
                let reason = DisabledReason::named(reason);
                Ok(EndpointState::Disabled {
                    at,
                    reason: known("webhook_endpoints.disabled_reason", reason)?,
                })
            }
            _ => Err(Corrupt::Column("webhook_endpoints.state")),
        }
    }

    fn set_in(&self) -> Result<Option<SessionId>, Corrupt> {
        self.url_session_id
            .map(|session| known("webhook_endpoints.url_session_id", SessionId::new(session)))
            .transpose()
    }

    fn creation(&self) -> Result<Option<CreationKey>, Corrupt> {
        let hash = |bytes: &[u8]| known("webhook_endpoints.creation_key", bytes.try_into().ok());
        match (&self.creation_key, &self.creation_body) {
            (None, None) => Ok(None),
            (Some(scope), Some(body)) => {
                Ok(Some(CreationKey { scope: KeyScope(hash(scope)?), body: TokenHash(hash(body)?) }))
            }
            _ => Err(Corrupt::Column("webhook_endpoints.creation_body")),
        }
    }

    fn replay(&self) -> Result<Option<Replay>, Corrupt> {
        let position = |number| known("webhook_endpoints.replay_until", Position::new(number));
        match (self.replay_after, self.replay_until) {
            (None, None) => Ok(None),
            (Some(after), Some(until)) => {
                Ok(Some(Replay { after: position(after)?, until: position(until)? }))
            }
            _ => Err(Corrupt::Column("webhook_endpoints.replay_until")),
        }
    }
}

impl StoredWebhookEndpoint {
    /// Converts the row to its endpoint.
    pub fn endpoint(self) -> Result<WebhookEndpoint, Corrupt> {
        let Self { id, record } = self;
        Ok(WebhookEndpoint {
            id: known("webhook_endpoints.id", WebhookEndpointId::new(id))?,
            owner: known("webhook_endpoints.owner_id", UserId::new(record.owner_id))?,
            feed: known("webhook_endpoints.feed", Feed::named(&record.feed))?,
            state: record.state()?,
            secrets: known("webhook_endpoints.secrets", secrets(&record.secrets))?,
            cursor: known("webhook_endpoints.cursor", Position::new(record.cursor))?,
            replay: record.replay()?,
            set_in: record.set_in()?,
            creation: record.creation()?,
            url: EndpointUrl::from_stored(record.url),
            types: record.types.as_deref().map(types),
            description: record.description.map(Line::from_stored),
            failing_since: record.failing_since,
            created_at: record.created_at,
        })
    }

    /// The endpoint before and after a change, and its row. Types of a newer version stay in the row unless the
    /// types change.
    pub fn changed(
        self,
        change: impl FnOnce(WebhookEndpoint) -> WebhookEndpoint,
    ) -> Result<(WebhookEndpoint, WebhookEndpoint, StoredWebhookEndpointRecord), Corrupt> {
        let stored_types = self.record.types.clone();
        let before = self.endpoint()?;
        let after = change(before.clone());
        let mut record = StoredWebhookEndpointRecord::of(&after);
        if after.types == before.types {
            record.types = stored_types;
        }
        Ok((before, after, record))
    }
}

fn types_text(types: &BTreeSet<EventType>) -> String {
    types.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(",")
}

/// The types that this version knows.
fn types(text: &str) -> BTreeSet<EventType> {
    text.split(',').filter_map(EventType::named).collect()
}

fn secrets_text(secrets: &EndpointSecrets) -> String {
    let previous =
        secrets.previous.iter().map(|(secret, until)| format!("{} {}", secret.0, until.unix_micros()));
    once(secrets.current.0.clone()).chain(previous).collect::<Vec<_>>().join("\n")
}

/// The current secret among the secrets of a row.
///
/// # Errors
/// [`Corrupt`] if there is none.
pub fn current_secret(text: &str) -> Result<SealedSecret, Corrupt> {
    let current = secrets(text).map(|secrets| secrets.current);
    known("webhook_endpoints.secrets", current)
}

fn secrets(text: &str) -> Option<EndpointSecrets> {
    let mut lines = text.lines();
    let current = SealedSecret(lines.next()?.to_owned());
    let previous = lines.map(|line| {
        let (secret, until) = line.split_once(' ')?;
        Some((SealedSecret(secret.to_owned()), Timestamp::from_unix_micros(until.parse().ok()?)))
    });
    Some(EndpointSecrets { current, previous: previous.collect::<Option<_>>()? })
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::operation::feature_level::FeatureLevel;
    use cuepoint_domain::webhook::{EndpointChange, EndpointSettings, SettingsAuthor};

    use super::*;

    fn new() -> NewEndpoint {
        NewEndpoint {
            owner: UserId::new(7).unwrap(),
            session: None,
            key: None,
            feed: Feed::Own,
            url: EndpointUrl::new("https://example.com/hook").unwrap(),
            types: Some([EventType::TopupCreated].into()),
            description: None,
            secret: SealedSecret("first".to_owned()),
            at: Timestamp::EPOCH,
        }
    }

    fn stored() -> StoredWebhookEndpoint {
        StoredWebhookEndpoint { id: 1, record: StoredWebhookEndpointRecord::new(&new(), Position::START) }
    }

    fn secret(text: &str) -> SealedSecret {
        SealedSecret(text.to_owned())
    }

    #[test]
    fn event_types_of_newer_versions_are_ignored_and_kept_until_types_are_set() {
        let later = "topup.created,song.skipped";
        let mut row = stored();
        row.record.types = Some(later.to_owned());
        let rotation = EndpointChange::Rotate { secret: secret("second"), at: Timestamp::EPOCH };
        let (_, endpoint, rotated) =
            row.clone().changed(|endpoint| endpoint.changed(&rotation, FeatureLevel::NEWEST)).unwrap();
        assert_eq!(endpoint.types, Some([EventType::TopupCreated].into()));
        assert_eq!(rotated.types.as_deref(), Some(later));
        let types = Some(Some([EventType::TopupFailed].into()));
        let settings = EndpointSettings { types, ..EndpointSettings::default() };
        let by = SettingsAuthor { user: UserId::new(7).unwrap(), session: None, has_password: true };
        let settings = EndpointChange::Settings { settings, by };
        let (_, _, set) = row.changed(|endpoint| endpoint.changed(&settings, FeatureLevel::NEWEST)).unwrap();
        assert_eq!(set.types.as_deref(), Some("topup.failed"));
    }

    #[test]
    fn secrets_round_trip_with_their_times() {
        let rotated = EndpointSecrets::new(secret("first")).rotated(secret("second"), Timestamp::EPOCH);
        let text = secrets_text(&rotated);
        assert_eq!(text, "second\nfirst 86400000000");
        assert_eq!(secrets(&text), Some(rotated));
        for broken in ["", "second\nfirst", "second\nfirst soon"] {
            assert_eq!(secrets(broken), None, "{broken:?}");
        }
    }

    #[test]
    fn a_disabled_endpoint_without_its_time_and_reason_is_corrupt() {
        let mut row = stored();
        row.record.state = DISABLED.to_owned();
        assert!(row.clone().endpoint().is_err());
        (row.record.disabled_at, row.record.disabled_reason) =
            (Some(Timestamp::EPOCH), Some("gone".to_owned()));
        let disabled = EndpointState::Disabled { at: Timestamp::EPOCH, reason: DisabledReason::Gone };
        assert_eq!(disabled.name(), DISABLED);
        assert_eq!(row.endpoint().unwrap().state, disabled);
    }
}
