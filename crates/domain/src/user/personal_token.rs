//! Personal access tokens: credentials of programs that read for a user, such as a display or DJ software.
//!
//! A personal access token is a session without refresh tokens. It ends with all sessions of its owner. A changed password
//! does not end it.

use std::collections::BTreeSet;

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use time::Duration;

use crate::ids::SessionId;
use crate::names::{explained_enum, named_enum};
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::user::session::Session;

/// What a personal access token may read.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
pub enum TokenScope {
    /// The owner's events, also of top-ups and withdrawals: `listEvents` and `streamEvents`.
    #[strum(serialize = "events:read")]
    EventsRead,
    /// The owner's gigs with their queues and reports.
    #[strum(serialize = "gigs:read")]
    GigsRead,
}

named_enum!(TokenScope);
explained_enum!(TokenScope);

/// A personal access token, without its secret.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PersonalToken {
    /// Its session, with the client that created the token.
    pub session: Session,
    /// The name that the owner gave it.
    pub name: Line,
    /// What it may read.
    pub scopes: BTreeSet<TokenScope>,
}

impl PersonalToken {
    /// The start of every secret, by which servers and scanners of published code recognise it.
    pub const PREFIX: &str = "cpt_";

    /// The length of a secret: the prefix, and the base64 form of 32 bytes.
    const SECRET_LENGTH: usize = Self::PREFIX.len().saturating_add(43);

    /// Whether this text can be the secret of a token.
    #[must_use]
    pub fn is_well_formed(secret: &str) -> bool {
        secret.starts_with(Self::PREFIX) && secret.len() == Self::SECRET_LENGTH
    }

    /// The maximum number of tokens of a user that have not ended.
    pub const MAX_LIVE: usize = 10;

    /// The shortest lifetime, in days.
    pub const MIN_DAYS: u16 = 1;
    /// The longest lifetime, in days.
    pub const MAX_DAYS: u16 = 365;
    /// The lifetime by default, in days.
    pub const DEFAULT_DAYS: u16 = 90;

    /// The id of the token and of its session.
    #[must_use]
    pub const fn id(&self) -> SessionId {
        self.session.id
    }

    /// The last time at which a server read the token from the store, if any did.
    #[must_use]
    pub fn last_used_at(&self) -> Option<Timestamp> {
        Some(self.session.used_at).filter(|used_at| *used_at > self.session.began_at)
    }
}

/// The lifetime of a token, in whole days.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenDays(u16);

impl TokenDays {
    /// The lifetime of this many days, if that many are allowed.
    #[must_use]
    pub fn new(days: u16) -> Option<Self> {
        (PersonalToken::MIN_DAYS..=PersonalToken::MAX_DAYS).contains(&days).then_some(Self(days))
    }

    /// The lifetime as a duration.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::days(self.0.into())
    }
}

impl Default for TokenDays {
    fn default() -> Self {
        Self(PersonalToken::DEFAULT_DAYS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::UserId;
    use crate::user::session::ClientInfo;

    #[test]
    fn a_token_lives_between_a_day_and_a_year() {
        for (days, valid) in [(0, false), (1, true), (365, true), (366, false)] {
            assert_eq!(TokenDays::new(days).is_some(), valid, "{days}");
        }
        assert_eq!(TokenDays::default().duration(), Duration::days(90));
    }

    #[test]
    fn a_token_shows_when_it_was_used() {
        let (id, user) = (SessionId::new(3).unwrap(), UserId::new(7).unwrap());
        let session = Session::begin(id, user, ClientInfo::default(), Timestamp::EPOCH, Duration::DAY);
        let name = Line::new("Display").unwrap();
        let mut token = PersonalToken { session, name, scopes: BTreeSet::new() };
        assert_eq!(token.last_used_at(), None);
        token.session.used_at = token.session.began_at.plus(Duration::MICROSECOND);
        assert_eq!(token.last_used_at(), Some(token.session.used_at));
    }
}
