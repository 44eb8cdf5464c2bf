//! The history in chronological order: registrations and top-ups, then one evening after another.

use cuepoint_domain::ids::UserId;
use cuepoint_domain::money::Money;
use cuepoint_domain::operation::{Actor, plans};
use cuepoint_domain::ports::PasswordHash;
use cuepoint_domain::text::{Email, Line};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::Charge;
use cuepoint_domain::user::{DjChange, Field, Locate, ProfileChange, Role, User};

use anyhow::Context;
use time::Duration;

use super::Sink;
use super::evening::Evening;
use super::population::{History, Population};
use super::random::{Series, random_below};
use super::writer::Writer;

/// The end of the history: the start of 2026.
const END: i64 = 1_767_225_600_000_000;
/// Requests per evening.
const REQUESTS_PER_EVENING: u32 = 10_000;
/// The number of top-ups, or of users, that are reported as settled at a time.
const SETTLED_AT_ONCE: u32 = 10_000;
/// The initial top-up of each user, in cents: more than any measurement spends.
const FUNDS: i128 = 1_000_000_000;
/// `correct horse battery staple`, hashed by argon2id at the configured cost.
const PASSWORD_HASH: &str =
    "$argon2id$v=19$m=19456,t=2,p=1$t/Ws41FUYXv0FyKTy21aJQ$i8dBasEyX5wlcs+vr2JpY+TzJeQQqmFmVHtx6mi74JY";
/// The cities of the users.
const CITIES: [(&str, &str, f64, f64); 4] = [
    ("Austin", "Texas", 30.2672, -97.7431),
    ("Chicago", "Illinois", 41.8781, -87.6298),
    ("Detroit", "Michigan", 42.3314, -83.0458),
    ("Miami", "Florida", 25.7617, -80.1918),
];

/// Plays the whole history into a sink.
pub(super) async fn play(population: &Population, to: &mut impl Sink) -> anyhow::Result<()> {
    let mut writer = Writer::new(to);
    let evenings = population.request_count().div_ceil(REQUESTS_PER_EVENING);
    let first = Timestamp::from_unix_micros(END).minus(Duration::days(i64::from(evenings)));
    writer.registrations(population, first.minus(Duration::days(30))).await?;
    for evening in 0..evenings {
        let before = evening.saturating_mul(REQUESTS_PER_EVENING);
        let last = before.saturating_add(REQUESTS_PER_EVENING).min(population.request_count());
        let begins = first.plus(Duration::days(i64::from(evening)));
        Evening::new(population, begins, &mut writer).play(before.saturating_add(1)..=last).await?;
        writer.to.settled().await?;
    }
    for history in population.wallets_with_history() {
        writer.long_wallet(history).await?;
    }
    Ok(())
}

impl<S: Sink> Writer<'_, S> {
    /// Registers all users with a location and a top-up; DJs set prices and go online.
    async fn registrations(&mut self, population: &Population, begin: Timestamp) -> anyhow::Result<()> {
        let staff = population.operator().into_iter().map(|user| (user, Role::Operator));
        let owners = population.wallets_with_history().map(|history| (history.user, Role::Member));
        let members = population.users().map(|user| (user, Role::Member));
        for (place, (user, role)) in (0_u32..).zip(members.chain(staff).chain(owners)) {
            let at = begin.plus(Duration::seconds(i64::from(place)));
            self.registration(population, user, role, at).await?;
            if place.is_multiple_of(SETTLED_AT_ONCE) {
                self.to.settled().await?;
            }
        }
        for (place, user) in (0_i64..).zip(population.users()) {
            let at = begin.plus(Duration::days(15)).plus(Duration::seconds(place));
            self.topup(user, FUNDS, Charge::Confirmed, at).await?;
        }
        self.to.settled().await
    }

    async fn registration(
        &mut self,
        population: &Population,
        id: UserId,
        role: Role,
        at: Timestamp,
    ) -> anyhow::Result<()> {
        let number = u64::try_from(id.get())?;
        let email = Email::new(&Population::email(id))?;
        let is_dj = population.is_dj(id);
        let name = Line::new(&format!("{} {id}", if is_dj { "DJ" } else { "Person" }))?;
        let user = User { role, email_verified: true, ..User::registered(id, name, email, None, is_dj, at) };
        self.to.register(&user, &PasswordHash(PASSWORD_HASH.to_owned())).await?;
        let mut change = ProfileChange { phone: line(&format!("+1555{number:07}"))?, ..home(number)? };
        if is_dj {
            let price = |from: i128, one: u64| {
                Money::from_minor(
                    i128::from(random_below(40, Series::Fee, one)).saturating_mul(25).saturating_add(from),
                )
            };
            change.dj = DjChange {
                online: Field::Set(true),
                fee_upcoming_artist: Field::Set(price(100, number)),
                fee_popular_song: Field::Set(price(500, number.saturating_mul(2))),
            };
        }
        let metadata = self.metadata(Actor::User(id), at.plus(Duration::minutes(1)));
        let user: User = self.apply(plans::change_profile(metadata, id, change)).await?;
        if is_dj {
            self.djs.insert(id, user);
        }
        Ok(())
    }

    /// Tops up a wallet cent by cent until it has this number of entries.
    async fn long_wallet(&mut self, history: History) -> anyhow::Result<()> {
        let begin = Timestamp::from_unix_micros(END).minus(Duration::days(20));
        for number in 0..history.entries {
            let at = begin.plus(Duration::seconds(i64::from(number)));
            self.topup(history.user, 1, Charge::Confirmed, at).await?;
            if number.is_multiple_of(SETTLED_AT_ONCE) {
                self.to.settled().await?;
            }
        }
        self.to.settled().await
    }
}

fn line(text: &str) -> anyhow::Result<Field<Option<Line>>> {
    Ok(Field::Set(Some(Line::new(text)?)))
}

/// Returns the location of a user.
fn home(number: u64) -> anyhow::Result<ProfileChange> {
    let cities = u32::try_from(CITIES.len())?;
    let city = usize::try_from(random_below(cities, Series::Owner, number))?;
    let (city, state, latitude, longitude) = CITIES.get(city).context("no city")?;
    Ok(ProfileChange {
        city: line(city)?,
        state: line(state)?,
        country: line("United States")?,
        place: Locate { latitude: Field::Set(Some(*latitude)), longitude: Field::Set(Some(*longitude)) },
        ..ProfileChange::default()
    })
}
