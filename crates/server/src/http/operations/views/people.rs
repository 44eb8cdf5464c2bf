//! Views of users for clients.

use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::text::Line;
use cuepoint_domain::user::{self, Coordinates, DjProfile, Kilometres, Rating};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::money::Number;

/// An account, as its owner sees it.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = User)]
pub struct UserView {
    /// Id of the account.
    #[schema(minimum = 1, example = 7)]
    id: i64,
    /// Display name.
    #[schema(example = "Ada")]
    name: String,
    /// E-mail address.
    #[schema(example = "ada@example.com")]
    email: String,
    /// Phone number.
    #[schema(example = "+1 555 0100")]
    phone: Option<String>,
    /// Whether the account is a DJ's.
    is_dj: bool,
    /// Available balance, in major units: posted minus held.
    #[schema(value_type = f64, format = "decimal", example = 12.50)]
    wallet_balance: Number,
    /// Price of a song by an upcoming artist, in major units; 0 for guests.
    #[schema(value_type = f64, format = "decimal", example = 5.00)]
    fee_upcoming_artist: Number,
    /// Price of a popular song, in major units; 0 for guests.
    #[schema(value_type = f64, format = "decimal", example = 10.00)]
    fee_popular_song: Number,
    /// 1 while a DJ accepts requests, else 0.
    #[schema(minimum = 0, maximum = 1, example = 1)]
    online: u8,
    /// Number of requests that the DJ has played.
    #[schema(minimum = 0, example = 0)]
    played: i64,
    /// City.
    city: Option<String>,
    /// State or region.
    state: Option<String>,
    /// Country.
    country: Option<String>,
    /// Latitude in degrees north; null if and only if `longitude` is.
    #[schema(minimum = -90, maximum = 90)]
    latitude: Option<f64>,
    /// Longitude in degrees east; null if and only if `latitude` is.
    #[schema(minimum = -180, maximum = 180)]
    longitude: Option<f64>,
    /// Radius around the location, in kilometres.
    #[schema(minimum = 0)]
    radius: Option<f64>,
    /// Whether the e-mail address is verified.
    email_verified: bool,
    /// Whether the phone number is verified.
    phone_verified: bool,
    /// Mean rating from 1 to 5 stars with two decimals; 0 without ratings.
    #[schema(value_type = f64, format = "decimal", minimum = 0, maximum = 5, example = 4.67)]
    rating: Number,
    /// Number of ratings.
    #[schema(minimum = 0, example = 3)]
    rating_count: i64,
}

/// An account in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UserData {
    /// The account.
    pub user: UserView,
}

/// A DJ, as visible to all callers.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Dj)]
pub struct DjView {
    /// Id of the DJ, as in `dj_id` of a request.
    #[schema(minimum = 1, example = 7)]
    id: i64,
    /// Display name.
    #[schema(example = "DJ Ada")]
    name: String,
    /// City.
    city: Option<String>,
    /// State or region.
    state: Option<String>,
    /// Country.
    country: Option<String>,
    /// 1 while the DJ accepts requests, else 0.
    #[schema(minimum = 0, maximum = 1, example = 1)]
    online: u8,
    /// Price of a song by an upcoming artist, in major units.
    #[schema(value_type = f64, format = "decimal", example = 5.00)]
    fee_upcoming_artist: Number,
    /// Price of a popular song, in major units.
    #[schema(value_type = f64, format = "decimal", example = 10.00)]
    fee_popular_song: Number,
    /// Number of played requests.
    #[schema(minimum = 0, example = 0)]
    played: i64,
    /// Mean rating from 1 to 5 stars with two decimals; 0 without ratings.
    #[schema(value_type = f64, format = "decimal", minimum = 0, maximum = 5, example = 4.67)]
    rating: Number,
    /// Number of ratings.
    #[schema(minimum = 0, example = 3)]
    rating_count: i64,
}

/// A DJ in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct DjData {
    /// The DJ.
    pub dj: DjView,
}

fn text(line: &Option<Line>) -> Option<String> {
    line.as_ref().map(|line| line.as_str().to_owned())
}

fn rating(rating: Rating) -> Number {
    if rating.count == 0 { Number::zero() } else { Number::hundredths(rating.mean_hundredths()) }
}

impl UserView {
    /// The user with their available balance.
    #[must_use]
    pub fn new(user: &user::User, available: Money, currency: &Currency) -> Self {
        let dj = user.dj.clone().unwrap_or_default();
        Self {
            id: user.id.get(),
            name: user.name.as_str().to_owned(),
            email: user.email.as_str().to_owned(),
            phone: text(&user.phone),
            is_dj: user.is_dj(),
            wallet_balance: Number::money(currency, available),
            fee_upcoming_artist: Number::money(currency, dj.fee_upcoming_artist),
            fee_popular_song: Number::money(currency, dj.fee_popular_song),
            online: u8::from(dj.online),
            played: dj.played,
            city: text(&user.city),
            state: text(&user.state),
            country: text(&user.country),
            latitude: user.coordinates.map(Coordinates::latitude),
            longitude: user.coordinates.map(Coordinates::longitude),
            radius: user.radius.map(Kilometres::get),
            email_verified: user.email_verified,
            phone_verified: user.phone_verified,
            rating: rating(dj.rating),
            rating_count: dj.rating.count,
        }
    }
}

impl DjView {
    /// The DJ. An account that is not a DJ's has the values of a DJ without any.
    #[must_use]
    pub fn new(user: &user::User, currency: &Currency) -> Self {
        let none = DjProfile::default();
        let dj = user.dj.as_ref().unwrap_or(&none);
        Self {
            id: user.id.get(),
            name: user.name.as_str().to_owned(),
            city: text(&user.city),
            state: text(&user.state),
            country: text(&user.country),
            online: u8::from(dj.online),
            fee_upcoming_artist: Number::money(currency, dj.fee_upcoming_artist),
            fee_popular_song: Number::money(currency, dj.fee_popular_song),
            played: dj.played,
            rating: rating(dj.rating),
            rating_count: dj.rating.count,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::UserId;
    use cuepoint_domain::text::Email;
    use cuepoint_domain::timestamp::Timestamp;

    fn person(is_dj: bool) -> user::User {
        user::User::registered(
            UserId::new(7).unwrap(),
            Line::new("Ada").unwrap(),
            Email::new("ada@example.com").unwrap(),
            None,
            is_dj,
            Timestamp::EPOCH,
        )
    }

    #[test]
    fn a_user_has_exactly_the_specified_keys() {
        let usd = Currency::new("USD", 2).unwrap();
        let user = UserView::new(&person(false), Money::from_minor(1_250), &usd);
        assert_eq!(
            serde_json::to_string(&user).unwrap(),
            concat!(
                r#"{"id":7,"name":"Ada","email":"ada@example.com","phone":null,"is_dj":false,"#,
                r#""wallet_balance":12.50,"fee_upcoming_artist":0.00,"fee_popular_song":0.00,"online":0,"#,
                r#""played":0,"city":null,"state":null,"country":null,"latitude":null,"longitude":null,"#,
                r#""radius":null,"email_verified":false,"phone_verified":false,"rating":0,"rating_count":0}"#
            )
        );
    }

    #[test]
    fn a_dj_is_shown_without_private_keys() {
        let usd = Currency::new("USD", 2).unwrap();
        let mut dj = person(true);
        let profile = dj.dj.as_mut().unwrap();
        profile.rating = Rating { stars: 14, count: 3 };
        profile.online = true;
        profile.fee_popular_song = Money::from_minor(1_000);
        assert_eq!(
            serde_json::to_string(&DjView::new(&dj, &usd)).unwrap(),
            concat!(
                r#"{"id":7,"name":"Ada","city":null,"state":null,"country":null,"online":1,"#,
                r#""fee_upcoming_artist":0.00,"fee_popular_song":10.00,"played":0,"rating":4.67,"#,
                r#""rating_count":3}"#
            )
        );
    }
}
