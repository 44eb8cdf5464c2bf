//! Users.

use std::collections::BTreeMap;

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{Coordinates, DjProfile, Kilometres, Rating, User};
use diesel::dsl::{Eq, IsNull};
use diesel::internal::derives::insertable::UndecoratedInsertRecord;
use diesel::{ExpressionMethods, Insertable};

use super::{Corrupt, Named, Sum, known, money};
use crate::entity_rows::Rowed;
use crate::schema::{StoredUser, users};

fn line(text: &Option<Line>) -> Option<String> {
    text.as_ref().map(|line| line.as_str().to_owned())
}

impl StoredUser {
    /// Converts a user to its row.
    #[must_use]
    pub fn of(user: &User, currency: &Currency) -> Self {
        let dj = user.dj.clone().unwrap_or_default();
        Self {
            id: user.id.get(),
            name: user.name.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            email_verified: user.email_verified,
            phone: line(&user.phone),
            phone_verified: user.phone_verified,
            role: Named::of(user.role),
            is_dj: user.is_dj(),
            online: dj.online,
            fee_upcoming_artist: Sum::of(currency, dj.fee_upcoming_artist),
            fee_popular_song: Sum::of(currency, dj.fee_popular_song),
            played: dj.played,
            rating_stars: dj.rating.stars,
            rating_count: dj.rating.count,
            city: line(&user.city),
            state: line(&user.state),
            country: line(&user.country),
            latitude: user.coordinates.map(Coordinates::latitude),
            longitude: user.coordinates.map(Coordinates::longitude),
            radius: user.radius.map(Kilometres::get),
            created_at: user.created_at,
            suspended_at: user.suspended_at,
            standing_at: user.status_changed_at,
            erased_at: user.erased_at,
            login_changed_at: user.login_changed_at,
        }
    }

    /// Converts the row to its user.
    pub fn user(self, currency: &Currency) -> Result<User, Corrupt> {
        let dj = DjProfile {
            online: self.online,
            fee_upcoming_artist: money(currency, "users.fee_upcoming_artist", &self.fee_upcoming_artist)?,
            fee_popular_song: money(currency, "users.fee_popular_song", &self.fee_popular_song)?,
            played: self.played,
            rating: Rating { stars: self.rating_stars, count: self.rating_count },
        };
        Ok(User {
            id: known("users.id", UserId::new(self.id))?,
            name: Line::from_stored(self.name),
            email: Email::from_stored(self.email),
            email_verified: self.email_verified,
            phone: self.phone.map(Line::from_stored),
            phone_verified: self.phone_verified,
            role: known("role", self.role.get())?,
            dj: self.is_dj.then_some(dj),
            city: self.city.map(Line::from_stored),
            state: self.state.map(Line::from_stored),
            country: self.country.map(Line::from_stored),
            coordinates: match (self.latitude, self.longitude) {
                (None, None) => None,
                (Some(latitude), Some(longitude)) => {
                    Some(known("latitude", Coordinates::new(latitude, longitude))?)
                }
                (Some(_), None) | (None, Some(_)) => return Err(Corrupt::Column("latitude")),
            },
            radius: self.radius.map(|km| known("radius", Kilometres::new(km))).transpose()?,
            created_at: self.created_at,
            suspended_at: self.suspended_at,
            status_changed_at: self.standing_at,
            erased_at: self.erased_at,
            login_changed_at: self.login_changed_at,
        })
    }
}

/// A newly registered user.
#[derive(Clone, Debug)]
pub struct NewUser {
    user: StoredUser,
    email_folded: String,
    password_hash: String,
}

impl NewUser {
    /// Converts a user and their password to their row.
    #[must_use]
    pub fn of(user: &User, password: &PasswordHash, currency: &Currency) -> Self {
        Self {
            email_folded: user.email.folded(),
            password_hash: password.0.clone(),
            user: StoredUser::of(user, currency),
        }
    }

    /// The user's id, their folded address, and the time of the registration.
    #[must_use]
    pub fn address(&self) -> (i64, &str, Timestamp) {
        (self.user.id, &self.email_folded, self.user.created_at)
    }
}

impl<'v> Insertable<users::table> for &'v NewUser {
    type Values = <(
        &'v StoredUser,
        Eq<users::email_folded, &'v String>,
        Eq<users::password_hash, &'v String>,
    ) as Insertable<users::table>>::Values;

    fn values(self) -> Self::Values {
        let address = users::email_folded.eq(&self.email_folded);
        Insertable::values((&self.user, address, users::password_hash.eq(&self.password_hash)))
    }
}

/// Many can be inserted at once.
impl UndecoratedInsertRecord<users::table> for &NewUser {}

/// The condition of an operator who is not erased, exactly as in its partial index.
pub const ACTING_OPERATOR: &str = "role = 'operator' AND erased_at IS NULL";

/// The condition of a guest account that is not erased, exactly as in its partial index.
pub const UNERASED_GUEST: &str = "role = 'guest' AND erased_at IS NULL";

/// The condition of `User::is_present`, in SQL.
#[must_use]
pub fn is_present() -> IsNull<users::erased_at> {
    users::erased_at.is_null()
}

/// Converts the ids and names of users.
///
/// # Errors
/// [`Corrupt`] if an id is invalid.
pub fn names(rows: Vec<(i64, String)>) -> Result<BTreeMap<UserId, Line>, Corrupt> {
    let names = rows.into_iter().map(|(id, name)| {
        let id = known("users.id", UserId::new(id))?;
        Ok((id, Line::from_stored(name)))
    });
    names.collect()
}

impl Rowed for User {
    type Row = StoredUser;

    fn row(&self, currency: &Currency) -> StoredUser {
        StoredUser::of(self, currency)
    }

    fn of_row(row: StoredUser, currency: &Currency) -> Result<Self, Corrupt> {
        row.user(currency)
    }
}
