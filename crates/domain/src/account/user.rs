//! A person, and the profile of one who is a DJ.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::ids::UserId;
use crate::money::Money;
use crate::names::named_enum;
use crate::text::{Email, Line};
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// What a person may do beyond their own affairs.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum Role {
    /// A guest or DJ.
    Member,
    /// One who runs the service and answers for its money.
    Operator,
    /// One who looks at everything and changes nothing.
    Auditor,
    /// One whom a newer version gave this role: here they may do what a member may.
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(Role, Unknown);

/// What kind of song a request is for, which decides its price.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum ArtistType {
    /// A song of an upcoming artist.
    Upcoming,
    /// A popular song.
    Popular,
}

named_enum!(ArtistType);

/// A place on Earth, in degrees.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Coordinates {
    latitude: f64,
    longitude: f64,
}

impl Coordinates {
    /// The place; `None` unless the latitude is within ±90 and the longitude within ±180.
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

/// A distance on Earth, from 0 to 20 038 km, half its girth.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Kilometres(f64);

impl Kilometres {
    /// The farthest that two places on Earth are apart.
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

/// The stars that a DJ was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rating {
    /// The sum of all stars, 1 to 5 each.
    pub stars: i64,
    /// How many times stars were given.
    pub count: i64,
}

impl Rating {
    /// The mean in hundredths of a star, rounded half up; 0 without any.
    #[must_use]
    pub fn mean_hundredths(self) -> i64 {
        let twice = self.stars.saturating_mul(200).saturating_add(self.count);
        self.count.checked_mul(2).and_then(|twice_count| twice.checked_div(twice_count)).unwrap_or(0)
    }
}

/// What a person has who is a DJ.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DjProfile {
    /// Whether the DJ takes requests now.
    pub online: bool,
    /// The price of a song of an upcoming artist; never negative.
    pub fee_upcoming_artist: Money,
    /// The price of a popular song; never negative.
    pub fee_popular_song: Money,
    /// Requests that the DJ has played, refunded ones among them.
    pub played: i64,
    /// The stars that the DJ was given.
    pub rating: Rating,
}

impl DjProfile {
    /// The price of a song of this kind.
    #[must_use]
    pub const fn list_price(&self, artist_type: ArtistType) -> Money {
        match artist_type {
            ArtistType::Upcoming => self.fee_upcoming_artist,
            ArtistType::Popular => self.fee_popular_song,
        }
    }
}

/// A person.
#[derive(Clone, PartialEq, Debug)]
pub struct User {
    /// Who it is.
    pub id: UserId,
    /// What they are called.
    pub name: Line,
    /// Where they get mail; unique whatever its letter case.
    pub email: Email,
    /// Whether the mail address was proven to be theirs.
    pub email_verified: bool,
    /// Where they are called.
    pub phone: Option<Line>,
    /// Whether the phone number was proven to be theirs.
    pub phone_verified: bool,
    /// What they may do.
    pub role: Role,
    /// What they have as a DJ, if they are one.
    pub dj: Option<DjProfile>,
    /// Their city.
    pub city: Option<Line>,
    /// Their state.
    pub state: Option<Line>,
    /// Their country.
    pub country: Option<Line>,
    /// Where they are.
    pub coordinates: Option<Coordinates>,
    /// How far around that they reach.
    pub radius: Option<Kilometres>,
    /// When they registered.
    pub created_at: Timestamp,
    /// Since when they may do nothing, if an operator shut them out.
    pub suspended_at: Option<Timestamp>,
    /// When their role or suspension last changed, if ever: until tokens from before have ended, it overrules them.
    pub standing_at: Option<Timestamp>,
    /// When they had their personal data erased, if they did.
    pub erased_at: Option<Timestamp>,
}

impl User {
    /// A person as they are at registration: offline, unproven, without a price or a place.
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
            standing_at: None,
            erased_at: None,
        }
    }

    /// Whether the person was not erased.
    #[must_use]
    pub const fn is_present(&self) -> bool {
        self.erased_at.is_none()
    }

    /// Whether the person runs the service now: an operator who was neither suspended nor erased.
    #[must_use]
    pub fn is_active_operator(&self) -> bool {
        self.role == Role::Operator && self.suspended_at.is_none() && self.is_present()
    }

    /// Whether the person is a DJ.
    #[must_use]
    pub const fn is_dj(&self) -> bool {
        self.dj.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mean_of_stars_to_two_decimals() {
        for (stars, count, mean) in [(0, 0, 0), (5, 1, 500), (14, 3, 467), (13, 3, 433), (9, 2, 450)] {
            assert_eq!(Rating { stars, count }.mean_hundredths(), mean, "{stars}/{count}");
        }
    }

    #[test]
    fn places_off_the_map() {
        assert!(Coordinates::new(90.0, -180.0).is_some());
        assert!(Coordinates::new(90.1, 0.0).is_none());
        assert!(Coordinates::new(f64::NAN, 0.0).is_none());
        assert!(Kilometres::new(-0.1).is_none());
    }
}
