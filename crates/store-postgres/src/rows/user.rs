//! People.

use bigdecimal::BigDecimal;
use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::people::{Coordinates, DjProfile, Kilometres, Rating, Role, User};
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::text::{Email, Line};
use diesel::prelude::*;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{Corrupt, column_time, known, money, text, timestamp};
use crate::schema::users;

/// The condition of `User::is_present`, in SQL.
pub(crate) fn is_present() -> diesel::dsl::IsNull<users::erased_at> {
    users::erased_at.is_null()
}

/// A person without what only registration and login touch.
#[derive(Clone, Debug, Queryable, Selectable, Insertable, AsChangeset, Serialize, Deserialize)]
#[diesel(table_name = users, check_for_backend(diesel::pg::Pg), treat_none_as_null = true)]
pub(crate) struct UserRow {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) email: String,
    pub(crate) email_verified: bool,
    pub(crate) phone: Option<String>,
    pub(crate) phone_verified: bool,
    pub(crate) role: String,
    pub(crate) is_dj: bool,
    pub(crate) online: bool,
    #[serde(with = "text::decimal")]
    pub(crate) fee_upcoming_artist: BigDecimal,
    #[serde(with = "text::decimal")]
    pub(crate) fee_popular_song: BigDecimal,
    pub(crate) played: i64,
    pub(crate) rating_stars: i64,
    pub(crate) rating_count: i64,
    pub(crate) city: Option<String>,
    pub(crate) state: Option<String>,
    pub(crate) country: Option<String>,
    #[serde(with = "text::double::option")]
    pub(crate) latitude: Option<f64>,
    #[serde(with = "text::double::option")]
    pub(crate) longitude: Option<f64>,
    #[serde(with = "text::double::option")]
    pub(crate) radius: Option<f64>,
    #[serde(with = "text::micros")]
    pub(crate) created_at: OffsetDateTime,
    #[serde(default, with = "text::micros::option")]
    pub(crate) suspended_at: Option<OffsetDateTime>,
    #[serde(default, with = "text::micros::option")]
    pub(crate) standing_at: Option<OffsetDateTime>,
    #[serde(default, with = "text::micros::option")]
    pub(crate) erased_at: Option<OffsetDateTime>,
}

/// A person as they are registered.
#[derive(Clone, Insertable)]
#[diesel(table_name = users)]
pub(crate) struct NewUserRow {
    #[diesel(embed)]
    pub(crate) user: UserRow,
    pub(crate) email_folded: String,
    pub(crate) password_hash: String,
}

impl NewUserRow {
    pub(crate) fn of(user: &User, password: &PasswordHash, currency: &Currency) -> Self {
        Self {
            email_folded: user.email.folded(),
            password_hash: password.0.clone(),
            user: UserRow::of(user, currency),
        }
    }
}

fn line(text: &Option<Line>) -> Option<String> {
    text.as_ref().map(|line| line.as_str().to_owned())
}

impl UserRow {
    pub(crate) fn of(user: &User, currency: &Currency) -> Self {
        let dj = user.dj.clone().unwrap_or_default();
        Self {
            id: user.id.get(),
            name: user.name.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            email_verified: user.email_verified,
            phone: line(&user.phone),
            phone_verified: user.phone_verified,
            role: user.role.name().to_owned(),
            is_dj: user.is_dj(),
            online: dj.online,
            fee_upcoming_artist: currency.to_decimal(dj.fee_upcoming_artist),
            fee_popular_song: currency.to_decimal(dj.fee_popular_song),
            played: dj.played,
            rating_stars: dj.rating.stars,
            rating_count: dj.rating.count,
            city: line(&user.city),
            state: line(&user.state),
            country: line(&user.country),
            latitude: user.coordinates.map(Coordinates::latitude),
            longitude: user.coordinates.map(Coordinates::longitude),
            radius: user.radius.map(Kilometres::get),
            created_at: column_time(user.created_at),
            suspended_at: user.suspended_at.map(column_time),
            standing_at: user.standing_at.map(column_time),
            erased_at: user.erased_at.map(column_time),
        }
    }

    pub(crate) fn user(self, currency: &Currency) -> Result<User, Corrupt> {
        let dj = DjProfile {
            online: self.online,
            fee_upcoming_artist: money(currency, "fee_upcoming_artist", &self.fee_upcoming_artist)?,
            fee_popular_song: money(currency, "fee_popular_song", &self.fee_popular_song)?,
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
            role: known("role", Role::stored(&self.role))?,
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
            created_at: timestamp(self.created_at),
            suspended_at: self.suspended_at.map(timestamp),
            standing_at: self.standing_at.map(timestamp),
            erased_at: self.erased_at.map(timestamp),
        })
    }
}
