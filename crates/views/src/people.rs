//! Views of users for clients.

use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::text::Line;
use cuepoint_domain::user::{self, Coordinates, DjProfile, Kilometres, Rating};
use serde::Serialize;
use utoipa::ToSchema;

use crate::wire::money::Number;
use crate::{json_members, view};

view! {
    /// A user, as the user's own client sees it.
    pub struct UserView as User of (user: &user::User, available: Money, currency: &Currency) {
        let dj = user.dj.clone().unwrap_or_default();
        /// Id of the user.
        #[id(example = 7)]
        id: i64 = user.id.get(),
        /// Display name.
        #[schema(example = "Ada")]
        name: String = user.name.as_str().to_owned(),
        /// E-mail address.
        #[schema(example = "ada@example.com")]
        email: String = user.shown_email(),
        /// Phone number; null if there is none.
        #[schema(example = "+4930123456")]
        phone: Option<String> = text(&user.phone),
        /// Whether the user is a DJ. A DJ stays a DJ.
        #[schema(example = true)]
        is_dj: bool = user.is_dj(),
        /// Available balance in major units, without held amounts.
        #[decimal(example = 12.50)]
        wallet_balance: Number = Number::money(currency, available),
        /// Price of a song by an upcoming artist, in major units; 0 for a user who is not a DJ.
        #[decimal(example = 5.00)]
        fee_upcoming_artist: Number = Number::money(currency, dj.fee_upcoming_artist),
        /// Price of a popular song, in major units; 0 for a user who is not a DJ.
        #[decimal(example = 10.00)]
        fee_popular_song: Number = Number::money(currency, dj.fee_popular_song),
        /// 1 while the DJ accepts requests, otherwise 0. It is 0 after the registration.
        #[schema(minimum = 0, maximum = 1, example = 1)]
        online: u8 = u8::from(dj.online),
        /// Number of requests that the DJ has played.
        #[schema(minimum = 0, example = 0)]
        played: i64 = dj.played,
        /// City; null if unknown.
        #[schema(example = "Berlin")]
        city: Option<String> = text(&user.city),
        /// State or region; null if unknown.
        #[schema(example = "Berlin")]
        state: Option<String> = text(&user.state),
        /// Country; null if unknown.
        #[schema(example = "Germany")]
        country: Option<String> = text(&user.country),
        /// Latitude in degrees north; null together with `longitude`.
        #[schema(minimum = -90, maximum = 90, example = 52.52)]
        latitude: Option<f64> = user.coordinates.map(Coordinates::latitude),
        /// Longitude in degrees east; null together with `latitude`.
        #[schema(minimum = -180, maximum = 180, example = 13.405)]
        longitude: Option<f64> = user.coordinates.map(Coordinates::longitude),
        /// Radius around the location, in kilometres; null if there is none.
        #[schema(minimum = 0, example = 25.0)]
        radius: Option<f64> = user.radius.map(Kilometres::get),
        /// Whether a code or token that was sent to the e-mail address has verified it.
        #[schema(example = true)]
        email_verified: bool = user.email_verified,
        /// Whether a code that was sent to the phone number has verified it. A new number is unverified.
        #[schema(example = false)]
        phone_verified: bool = user.phone_verified,
        /// Mean rating from 1 to 5 stars with two decimals; 0 without ratings.
        #[decimal(minimum = 0, maximum = 5, example = 4.67)]
        rating: Number = rating(dj.rating),
        /// Number of rated requests.
        #[schema(minimum = 0, example = 3)]
        rating_count: i64 = dj.rating.count,
    }
}

/// A user in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct UserData {
    /// The user.
    pub user: UserView,
}

json_members!([] UserData { user [] });

view! {
    /// A DJ, as everybody sees them.
    pub struct DjView as Dj of (user: &user::User, currency: &Currency) {
        // A user who is no DJ has the values of a DJ without any.
        let none = DjProfile::default();
        let dj = user.dj.as_ref().unwrap_or(&none);
        /// Id of the DJ, as in `dj_id` of a request.
        #[id(example = 7)]
        id: i64 = user.id.get(),
        /// Display name.
        #[schema(example = "DJ Ada")]
        name: String = user.name.as_str().to_owned(),
        /// City; null if unknown.
        #[schema(example = "Berlin")]
        city: Option<String> = text(&user.city),
        /// State or region; null if unknown.
        #[schema(example = "Berlin")]
        state: Option<String> = text(&user.state),
        /// Country; null if unknown.
        #[schema(example = "Germany")]
        country: Option<String> = text(&user.country),
        /// 1 while the DJ accepts requests, otherwise 0.
        #[schema(minimum = 0, maximum = 1, example = 1)]
        online: u8 = u8::from(dj.online),
        /// Price of a song by an upcoming artist, in major units.
        #[decimal(example = 5.00)]
        fee_upcoming_artist: Number = Number::money(currency, dj.fee_upcoming_artist),
        /// Price of a popular song, in major units.
        #[decimal(example = 10.00)]
        fee_popular_song: Number = Number::money(currency, dj.fee_popular_song),
        /// Number of requests that the DJ has played.
        #[schema(minimum = 0, example = 0)]
        played: i64 = dj.played,
        /// Mean rating from 1 to 5 stars with two decimals; 0 without ratings.
        #[decimal(minimum = 0, maximum = 5, example = 4.67)]
        rating: Number = rating(dj.rating),
        /// Number of rated requests.
        #[schema(minimum = 0, example = 3)]
        rating_count: i64 = dj.rating.count,
    }
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

/// A mean rating with two decimals; 0 without ratings.
pub(crate) fn rating(rating: Rating) -> Number {
    if rating.count == 0 { Number::zero() } else { Number::hundredths(rating.mean_hundredths()) }
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
    fn the_json_of_a_user_has_exactly_the_specified_fields() {
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
    fn a_dj_is_shown_without_private_fields() {
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
