//! DJs: their prices and ratings.

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};

use crate::money::Money;
use crate::names::{explained_enum, named_enum};

/// The kind of song of a request, which determines its price.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum ArtistType {
    /// A song by an upcoming artist. The price is `fee_upcoming_artist`.
    Upcoming,
    /// A popular song. The price is `fee_popular_song`.
    Popular,
}

named_enum!(ArtistType);
explained_enum!(ArtistType);

/// A DJ's ratings.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rating {
    /// The sum of all ratings, 1 to 5 stars each.
    pub stars: i64,
    /// The number of ratings.
    pub count: i64,
}

impl Rating {
    /// The mean in hundredths of a star, rounded half up; 0 without ratings.
    #[must_use]
    pub fn mean_hundredths(self) -> i64 {
        let twice = self.stars.saturating_mul(200).saturating_add(self.count);
        self.count.checked_mul(2).and_then(|twice_count| twice.checked_div(twice_count)).unwrap_or(0)
    }
}

/// The profile of a DJ.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct DjProfile {
    /// Whether the DJ accepts requests now.
    pub online: bool,
    /// The price of a song by an upcoming artist; never negative.
    pub fee_upcoming_artist: Money,
    /// The price of a popular song; never negative.
    pub fee_popular_song: Money,
    /// The number of requests that the DJ has played, refunded ones included.
    pub played: i64,
    /// The DJ's ratings.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_ratings_have_two_decimals() {
        for (stars, count, mean) in [(0, 0, 0), (5, 1, 500), (14, 3, 467), (13, 3, 433), (9, 2, 450)] {
            assert_eq!(Rating { stars, count }.mean_hundredths(), mean, "{stars}/{count}");
        }
    }
}
