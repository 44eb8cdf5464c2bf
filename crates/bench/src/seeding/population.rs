//! The users of the seeded history, and the outcome of each of their requests.

use std::str::FromStr;

use anyhow::{Context, ensure};
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::music_request::RequestStatus;

use super::random::{Series, random_below};

/// Users per DJ.
const PEOPLE_PER_DJ: u32 = 20;
/// The numbers of entries of the wallets with a long history.
const LENGTHS: [u32; 3] = [10, 10_000, 1_000_000];

/// The amount of data, in thousandths of 10 000 users with 200 000 music requests.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Scale(u32);

impl Scale {
    /// A tenth of that.
    pub(crate) const TENTH: Self = Self(100);
    /// 10 000 users with 200 000 music requests.
    pub(crate) const ONE: Self = Self(1_000);
    /// Ten times that.
    pub(crate) const TEN: Self = Self(10_000);

    /// The scale in thousandths.
    pub(crate) const fn thousandths(self) -> u32 {
        self.0
    }
}

impl FromStr for Scale {
    type Err = anyhow::Error;

    /// Parses a scale such as `1`, `0.1` or `10`, with at most three decimals, between 0.001 and 100.
    fn from_str(text: &str) -> anyhow::Result<Self> {
        let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        ensure!(
            digits(whole) && digits(decimals) && !whole.is_empty() && decimals.len() <= 3,
            "`{text}` is not a scale: give a number such as 1 or 0.1"
        );
        let thousandths = format!("{whole}{decimals:0<3}").parse().context("the scale is too large")?;
        ensure!((1..=100_000).contains(&thousandths), "a scale is between 0.001 and 100");
        Ok(Self(thousandths))
    }
}

impl std::fmt::Display for Scale {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1_000.0)
    }
}

/// A user whose wallet has a given number of entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct History {
    /// The owner of the wallet.
    pub(crate) user: UserId,
    /// The number of its entries.
    pub(crate) entries: u32,
}

/// The users and the outcomes of their requests, all derived from the scale.
///
/// Ids count from 1 without gaps: users (one in twenty a DJ), the operator, the users with a long wallet;
/// and, separately, requests.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Population {
    scale: Scale,
    lengths: usize,
}

impl Population {
    /// The password of every user.
    pub(crate) const PASSWORD: &str = "correct horse battery staple";

    /// Returns the population of this scale, plus wallets of 10 and 10 000 entries.
    pub(crate) const fn at_scale(scale: Scale) -> Self {
        Self { scale, lengths: 2 }
    }

    /// Adds a wallet of 1 000 000 entries.
    pub(crate) const fn with_a_million_entries(self) -> Self {
        Self { lengths: 3, ..self }
    }

    /// The number of users, without the operator and those with a long wallet.
    pub(crate) const fn user_count(&self) -> u32 {
        self.scale.thousandths().saturating_mul(10)
    }

    /// The number of DJs.
    pub(crate) const fn dj_count(&self) -> u32 {
        self.user_count().div_ceil(PEOPLE_PER_DJ)
    }

    /// The number of music requests.
    pub(crate) const fn request_count(&self) -> u32 {
        self.scale.thousandths().saturating_mul(200)
    }

    /// The users, without the operator and those with a long wallet. Each has millions to spend.
    pub(crate) fn users(&self) -> impl Iterator<Item = UserId> + use<> {
        (1..=i64::from(self.user_count())).filter_map(UserId::new)
    }

    /// The DJs among the users.
    pub(crate) fn djs(&self) -> impl Iterator<Item = UserId> + use<> {
        let all = *self;
        (0..self.dj_count()).filter_map(move |place| all.dj(place))
    }

    /// Whether this user is a DJ.
    pub(crate) fn is_dj(&self, user: UserId) -> bool {
        user.get() <= i64::from(self.user_count()) && user.get().rem_euclid(i64::from(PEOPLE_PER_DJ)) == 1
    }

    /// The requests that stay pending for years, each with its DJ.
    pub(crate) fn pending(&self) -> impl Iterator<Item = (RequestId, UserId)> + use<> {
        let all = *self;
        (1..=self.request_count())
            .filter(move |number| all.fate(*number) == RequestStatus::Pending)
            .filter_map(move |number| Some((RequestId::new(i64::from(number))?, all.dj_of(number)?)))
    }

    /// The users whose wallets have 10, 10 000 and, if added, 1 000 000 entries.
    pub(crate) fn wallets_with_history(&self) -> impl Iterator<Item = History> + use<> {
        let first = i64::from(self.user_count()).saturating_add(2);
        LENGTHS
            .into_iter()
            .take(self.lengths)
            .zip(first..)
            .filter_map(|(entries, number)| Some(History { user: UserId::new(number)?, entries }))
    }

    /// The operator, who judges withdrawals and refunds.
    pub(crate) fn operator(&self) -> Option<UserId> {
        UserId::new(i64::from(self.user_count()).saturating_add(1))
    }

    /// The e-mail address with which a user logs in.
    pub(crate) fn email(user: UserId) -> String {
        format!("person{user}@example.com")
    }

    /// The DJ at this index.
    fn dj(&self, place: u32) -> Option<UserId> {
        UserId::new(i64::from(place.saturating_mul(PEOPLE_PER_DJ).saturating_add(1)))
    }

    /// The DJ of the request of this number.
    pub(super) fn dj_of(&self, request: u32) -> Option<UserId> {
        self.dj(random_below(self.dj_count(), Series::Dj, u64::from(request)))
    }

    /// The guest of the request of this number: one of the users between two DJs.
    pub(super) fn guest_of(&self, request: u32) -> Option<UserId> {
        let guests = self.user_count().saturating_sub(self.dj_count());
        let place = random_below(guests, Series::Guest, u64::from(request));
        let djs_before = place.div_euclid(PEOPLE_PER_DJ.saturating_sub(1)).saturating_add(1);
        UserId::new(i64::from(place.saturating_add(djs_before).saturating_add(1)))
    }

    /// The final status of the request of this number.
    pub(super) fn fate(&self, request: u32) -> RequestStatus {
        match random_below(100, Series::Fate, u64::from(request)) {
            0..72 => RequestStatus::Pending,
            72..74 => RequestStatus::Accepted,
            74..80 => RequestStatus::Rejected,
            80..83 => RequestStatus::Cancelled,
            83..84 => RequestStatus::Expired,
            84..85 => RequestStatus::Refunded,
            _ => RequestStatus::Played,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn scales_are_parsed_and_printed() {
        for (text, thousandths, shown) in [
            ("1", 1_000, "1"),
            ("0.1", 100, "0.1"),
            ("10", 10_000, "10"),
            ("0.001", 1, "0.001"),
            ("2.50", 2_500, "2.5"),
        ] {
            let scale: Scale = text.parse().unwrap();
            assert_eq!((scale.thousandths(), scale.to_string().as_str()), (thousandths, shown));
        }
        for text in ["", "0", ".5", "-1", "0.0001", "1e1", "101", "ten"] {
            assert!(text.parse::<Scale>().is_err(), "{text}");
        }
    }

    #[test]
    fn scale_1_has_the_documented_population() {
        let one = Population::at_scale(Scale::ONE);
        assert_eq!((one.users().count(), one.djs().count(), one.request_count()), (10_000, 500, 200_000));
        assert!(one.pending().count() >= 140_000);
    }

    #[test]
    fn every_user_is_either_an_active_guest_or_an_active_dj() {
        for scale in [Scale(1), Scale::TENTH] {
            let all = Population::at_scale(scale);
            let djs: BTreeSet<UserId> = all.djs().collect();
            assert!(djs.iter().all(|dj| all.is_dj(*dj)));
            let numbers = 1..=all.request_count();
            let guests: BTreeSet<UserId> = numbers.clone().filter_map(|one| all.guest_of(one)).collect();
            let asked: BTreeSet<UserId> = numbers.filter_map(|one| all.dj_of(one)).collect();
            assert_eq!(asked, djs);
            assert!(guests.is_disjoint(&djs));
            let both: BTreeSet<UserId> = guests.union(&djs).copied().collect();
            assert_eq!(both, all.users().collect());
        }
    }
}
