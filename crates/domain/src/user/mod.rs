//! Users: their profiles and logins, and the changes that they and operators may make.
//!
//! - [`User`], [`Role`], [`DjProfile`]: the user, with the prices and ratings of a DJ;
//! - [`ProfileChange`]: what users change themselves; [`UserStatusChange`]: what operators change;
//! - [`session`]: sessions and their refresh tokens; [`cookie_session`]: sessions of browsers; [`personal_token`]: personal
//!   access tokens;
//! - [`challenge`]: codes and tokens that verify an address or reset a password; [`code_quotas`]: their number;
//! - [`email_change`]: the change of the e-mail address, and the way back;
//! - [`guest_account`]: users without e-mail address and password, and how they become members;
//! - [`Standing`]: whether the requests of a user count as guests';
//! - [`Block`]: a guest who is blocked by a DJ.

mod block;
pub mod challenge;
pub mod code_quotas;
pub mod cookie_session;
mod dj;
pub mod email_change;
mod entity_facts;
pub mod guest_account;
mod password_hash;
pub mod personal_token;
mod profile;
mod recent_password;
pub mod session;
mod standing;
mod status_change;
pub mod wallet_link;

pub use block::Block;
pub use dj::{ArtistType, DjProfile, Rating};
pub use password_hash::{PasswordHash, PasswordMark};
pub use profile::{DjChange, Field, Locate, ProfileChange, ProfileRefusal, change_profile};
pub(crate) use profile::{change_dj, located};
pub use recent_password::RecentPassword;
pub use standing::{Standing, StandingFacts};
pub use status_change::{
    UserStatusChange, assigns_role_to_guest_account, change_user_status, ends_sessions, leaves_an_operator,
    may_dismiss,
};

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};

use crate::ids::UserId;
use crate::money::Money;
use crate::names::{explained_enum, named_enum};
use crate::text::{Email, Line};
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// A user's role, which grants permissions beyond the user's own entities.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// A guest account, without e-mail address and password, until it is claimed.
    Guest,
    /// A guest or a DJ with a login.
    Member,
    /// Runs the service and is responsible for its money.
    Operator,
    /// Reads everything that operators read, and changes nothing.
    Auditor,
    /// A role of a newer version, treated as a member.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(Role, Unknown);
explained_enum!(Role);

impl Role {
    /// The roles that an operator can assign: no user becomes a guest account.
    pub fn assignable() -> impl Iterator<Item = Self> + Clone {
        Self::all().filter(|role| *role != Self::Guest)
    }

    /// Whether users with this role are staff.
    #[must_use]
    pub const fn is_staff(self) -> bool {
        matches!(self, Self::Operator | Self::Auditor)
    }
}

/// Coordinates on Earth, in degrees.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coordinates {
    latitude: f64,
    longitude: f64,
}

impl Coordinates {
    /// The coordinates; `None` unless the latitude is within ±90 and the longitude within ±180.
    #[must_use]
    pub fn new(latitude: f64, longitude: f64) -> Option<Self> {
        ((-90.0..=90.0).contains(&latitude) && (-180.0..=180.0).contains(&longitude))
            .then_some(Self { latitude, longitude })
    }

    /// Degrees north, negative in the south.
    #[must_use]
    pub const fn latitude(self) -> f64 {
        self.latitude
    }

    /// Degrees east, negative in the west.
    #[must_use]
    pub const fn longitude(self) -> f64 {
        self.longitude
    }
}

/// A distance on Earth, from 0 to 20 038 km, half its circumference.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Kilometres(f64);

impl Kilometres {
    /// The greatest distance between two points on Earth.
    pub const MAX: u32 = 20_038;

    /// The distance; `None` unless it is between 0 and [`Kilometres::MAX`].
    #[must_use]
    pub fn new(km: f64) -> Option<Self> {
        (0.0..=f64::from(Self::MAX)).contains(&km).then_some(Self(km))
    }

    /// The number of kilometres.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// A user.
#[derive(Clone, PartialEq, Debug)]
pub struct User {
    /// The user's id.
    pub id: UserId,
    /// Display name.
    pub name: Line,
    /// E-mail address; unique irrespective of letter case.
    pub email: Email,
    /// Whether the e-mail address is verified.
    pub email_verified: bool,
    /// Phone number.
    pub phone: Option<Line>,
    /// Whether the phone number is verified.
    pub phone_verified: bool,
    pub role: Role,
    pub dj: Option<DjProfile>,
    pub city: Option<Line>,
    pub state: Option<Line>,
    pub country: Option<Line>,
    pub coordinates: Option<Coordinates>,
    /// Service radius around the coordinates.
    pub radius: Option<Kilometres>,
    /// Time of registration.
    pub created_at: Timestamp,
    /// Time of the suspension, if the user is suspended.
    pub suspended_at: Option<Timestamp>,
    /// Time of the last change of role or suspension, or of becoming a DJ, if any: it overrides earlier tokens until
    /// they expire.
    pub status_changed_at: Option<Timestamp>,
    /// Time of the erasure of personal data, if any.
    pub erased_at: Option<Timestamp>,
    /// Time of the last change of the e-mail address or reset of the password, if any.
    pub login_changed_at: Option<Timestamp>,
}

impl User {
    /// A newly registered user: offline, unverified, without prices or coordinates.
    #[must_use]
    pub fn registered(
        id: UserId,
        name: Line,
        email: Email,
        phone: Option<Line>,
        is_dj: bool,
        at: Timestamp,
    ) -> Self {
        Self {
            id,
            name,
            email,
            email_verified: false,
            phone,
            phone_verified: false,
            role: Role::Member,
            dj: is_dj.then(DjProfile::default),
            city: None,
            state: None,
            country: None,
            coordinates: None,
            radius: None,
            created_at: at,
            suspended_at: None,
            status_changed_at: None,
            erased_at: None,
            login_changed_at: None,
        }
    }

    /// Whether the user has not been erased.
    #[must_use]
    pub const fn is_present(&self) -> bool {
        self.erased_at.is_none()
    }

    /// Whether the user is an active operator, neither suspended nor erased.
    #[must_use]
    pub fn is_active_operator(&self) -> bool {
        self.role == Role::Operator && self.suspended_at.is_none() && self.is_present()
    }

    /// Records that the way to log in was changed without the current password or to another address.
    pub fn note_login_change(&mut self, at: Timestamp) {
        self.login_changed_at = Some(self.login_changed_at.map_or(at, |before| before.max(at)));
    }

    /// Records a change of the user's status.
    pub fn note_status_change(&mut self, at: Timestamp) {
        self.status_changed_at = Some(self.status_changed_at.map_or(at, |before| before.max(at)));
    }

    /// The DJ's price of a song of this kind; zero for a user who is no DJ.
    #[must_use]
    pub fn list_price(&self, artist_type: ArtistType) -> Money {
        self.dj.as_ref().map_or(Money::ZERO, |dj| dj.list_price(artist_type))
    }

    /// Whether the user is a DJ.
    #[must_use]
    pub const fn is_dj(&self) -> bool {
        self.dj.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_coordinates_and_radii_are_refused() {
        assert!(Coordinates::new(90.0, -180.0).is_some());
        assert!(Coordinates::new(90.1, 0.0).is_none());
        assert!(Coordinates::new(f64::NAN, 0.0).is_none());
        assert!(Kilometres::new(-0.1).is_none());
    }
}
