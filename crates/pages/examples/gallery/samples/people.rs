//! Users with made-up names.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Money;
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::{DjProfile, Rating, User};

/// A DJ who is online, with prices of 12.50 and 8.00.
pub fn dj() -> User {
    let name = Line::new("Nadja Vinyl").expect("a name");
    let email = Email::new("nadja@example.com").expect("an address");
    let id = UserId::new(7).expect("an id");
    let mut dj = User::registered(id, name, email, None, true, Timestamp::EPOCH);
    dj.dj = Some(DjProfile {
        online: true,
        fee_upcoming_artist: Money::from_minor(800),
        fee_popular_song: Money::from_minor(1_250),
        played: 1_204,
        rating: Rating { stars: 1_420, count: 302 },
    });
    dj
}

/// A guest with a login.
pub fn guest() -> User {
    let name = Line::new("Tom").expect("a name");
    let email = Email::new("tom@example.com").expect("an address");
    User::registered(UserId::new(9).expect("an id"), name, email, None, false, Timestamp::EPOCH)
}

/// A guest account, which has no login.
pub fn guest_account() -> User {
    User::guest(UserId::new(11).expect("an id"), Line::new("Mia").ok(), Timestamp::EPOCH)
}
