//! One evening: requests and withdrawals are made one after another, while the earlier ones take their
//! course.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::vec;

use anyhow::{Context, bail};
use cuepoint_domain::ids::{RequestId, UserId, WithdrawalId};
use cuepoint_domain::money::{Amount, BasisPoints, Money};
use cuepoint_domain::music_request::{
    self, Addressee, By, MusicRequest, NewRequest, RequestStatus, RequestTerms,
};
use cuepoint_domain::operation::{Actor, plans};
use cuepoint_domain::text::{Line, MusicUrl, PaymentUrl};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::topup::{Charge, Orders, Topup};
use cuepoint_domain::user::ArtistType;
use cuepoint_domain::withdrawal::{self, NewWithdrawal, Withdrawal, WithdrawalAmount, WithdrawalTerms};
use time::Duration;

use super::population::Population;
use super::random::{Series, random, random_below};
use super::writer::{Writer, permitted};
use super::{Sink, currency};

/// The interval between two requests.
const PACE: Duration = Duration::milliseconds(1_500);
/// Requests per withdrawal.
const REQUESTS_PER_WITHDRAWAL: u32 = 20;
/// Requests per top-up by the guest.
const REQUESTS_PER_TOPUP: u32 = 10;
/// How long a request that is never answered stays open.
const FOR_YEARS: Duration = Duration::days(3_650);
/// The requested songs.
const SONGS: [(&str, &str); 8] = [
    ("Blue Monday", "New Order"),
    ("Around the World", "Daft Punk"),
    ("Strings of Life", "Rhythim Is Rhythim"),
    ("Your Love", "Frankie Knuckles"),
    ("Windowlicker", "Aphex Twin"),
    ("I Feel Love", "Donna Summer"),
    ("Born Slippy .NUXX", "Underworld"),
    ("One More Time", "Daft Punk"),
];

/// An open request or withdrawal, with its remaining moves.
enum Alive {
    Request(MusicRequest, vec::IntoIter<music_request::Move>),
    Withdrawal(Withdrawal, vec::IntoIter<withdrawal::Move>),
}

/// An evening in progress.
pub(super) struct Evening<'w, 's, S> {
    population: &'w Population,
    writer: &'w mut Writer<'s, S>,
    begins: Timestamp,
    /// The entities with a next move, by its time; those of one time in the order of creation.
    coming: BTreeMap<(Timestamp, u64), Alive>,
    made: u64,
}

impl<'w, 's, S: Sink> Evening<'w, 's, S> {
    pub(super) const fn new(
        population: &'w Population,
        begins: Timestamp,
        writer: &'w mut Writer<'s, S>,
    ) -> Self {
        Self { population, writer, begins, coming: BTreeMap::new(), made: 0 }
    }

    /// Makes the requests of these numbers and everything that accompanies them, until no moves remain.
    pub(super) async fn play(mut self, numbers: RangeInclusive<u32>) -> anyhow::Result<()> {
        let mut now = self.begins;
        for number in numbers {
            self.moves_until(now).await?;
            if number.is_multiple_of(REQUESTS_PER_TOPUP) {
                self.topup(number, now).await?;
            }
            self.request(number, now).await?;
            if number.is_multiple_of(REQUESTS_PER_WITHDRAWAL) {
                self.withdrawal(number.div_euclid(REQUESTS_PER_WITHDRAWAL), now).await?;
            }
            now = now.plus(PACE);
        }
        self.moves_until(self.begins.plus(Duration::days(1))).await?;
        anyhow::ensure!(self.coming.is_empty(), "an evening overlaps the next one");
        Ok(())
    }

    /// Executes all moves that are due by this time.
    async fn moves_until(&mut self, now: Timestamp) -> anyhow::Result<()> {
        while let Some(next) = self.coming.first_entry() {
            let (at, _) = *next.key();
            if at > now {
                break;
            }
            let alive = match next.remove() {
                Alive::Request(request, left) => self.move_request(request, left, at).await?,
                Alive::Withdrawal(withdrawal, left) => self.move_withdrawal(withdrawal, left, at).await?,
            };
            self.then(alive, at);
        }
        Ok(())
    }

    /// Schedules the next move, if there is one.
    fn then(&mut self, alive: Alive, now: Timestamp) {
        self.made = self.made.saturating_add(1);
        let soon = now.plus(Duration::seconds(i64::from(random_below(300, Series::Pace, self.made))));
        let at = match &alive {
            Alive::Request(request, left) => match left.as_slice().first() {
                None => return,
                // Expired by the next sweep.
                Some(music_request::Move::Expire) => {
                    request.state.expires_at().unwrap_or(soon).plus(Duration::seconds(5))
                }
                Some(_) => soon,
            },
            Alive::Withdrawal(_, left) if left.as_slice().is_empty() => return,
            Alive::Withdrawal(..) => soon,
        };
        self.coming.insert((at, self.made), alive);
    }

    async fn topup(&mut self, number: u32, now: Timestamp) -> anyhow::Result<()> {
        let guest = self.population.guest_of(number).context("no guest")?;
        let cents = i128::from(random_below(20, Series::Amount, u64::from(number)))
            .saturating_add(1)
            .saturating_mul(500);
        let charge = match random_below(20, Series::Pace, u64::from(number)) {
            0 => Charge::Ordered(Orders { attempts: 1, next_at: Some(now.plus(Duration::seconds(30))) }),
            _ => Charge::Confirmed,
        };
        let topup = self.writer.topup(guest, cents, charge, now).await?;
        if let Charge::Ordered(orders) = charge {
            let page = PaymentUrl::new("https://pay.example.com/session/1")?;
            let ordered = Orders { next_at: None, ..orders };
            let metadata = self.writer.metadata(Actor::System, now);
            let plan = plans::order_topup(metadata, &topup, ordered, Some(page));
            self.writer.apply::<Topup>(plan).await?;
        }
        Ok(())
    }

    /// Makes the request of this number.
    async fn request(&mut self, number: u32, now: Timestamp) -> anyhow::Result<()> {
        use music_request::Move::{Accept, Cancel, Expire, Play, Refund, Reject};
        let moves = match self.population.fate(number) {
            RequestStatus::Pending => vec![],
            RequestStatus::Accepted => vec![Accept],
            RequestStatus::Rejected => vec![Reject],
            RequestStatus::Cancelled => vec![Cancel],
            RequestStatus::Expired => vec![Expire],
            RequestStatus::Played => vec![Accept, Play],
            RequestStatus::Refunded => vec![Accept, Play, Refund],
            RequestStatus::Unknown(name) => bail!("no request is seeded as {name:?}"),
        };
        let dj = self.population.dj_of(number).context("no DJ")?;
        let guest = self.population.guest_of(number).context("no guest")?;
        let id = RequestId::new(i64::from(number)).context("invalid request id")?;
        let metadata = self.writer.metadata(Actor::User(guest), now);
        let terms = self.terms(id)?;
        let dj = self.writer.djs.get(&dj);
        let new = song(number, dj.map(|dj| dj.id).context("the DJ is missing")?)?;
        let plan = plans::open_request(metadata, id, guest, Addressee::of(dj), new, &terms);
        let request = self.writer.apply(permitted(plan)?).await?;
        self.then(Alive::Request(request, moves.into_iter()), now);
        Ok(())
    }

    /// Returns the terms of a request; a request that is never answered stays open for years.
    fn terms(&self, id: RequestId) -> anyhow::Result<RequestTerms> {
        let fate = self.population.fate(u32::try_from(id.get())?);
        let stays = matches!(fate, RequestStatus::Pending | RequestStatus::Accepted);
        Ok(RequestTerms {
            pending_for: if stays { FOR_YEARS } else { Duration::minutes(15) },
            accepted_for: if stays { FOR_YEARS } else { Duration::minutes(60) },
            commission: BasisPoints::new(1_000).context("no share")?,
            ..RequestTerms::default()
        })
    }

    async fn move_request(
        &mut self,
        request: MusicRequest,
        mut left: vec::IntoIter<music_request::Move>,
        now: Timestamp,
    ) -> anyhow::Result<Alive> {
        let to = left.next().context("no move remains")?;
        let actor = match to.by() {
            By::Dj => Actor::User(request.dj),
            By::Requester => Actor::User(request.requester),
            By::Clock => Actor::System,
            By::Operator => Actor::User(self.population.operator().context("no operator")?),
        };
        let (metadata, terms) = (self.writer.metadata(actor, now), self.terms(request.id)?);
        let plan = plans::move_request(metadata, &request, to, &terms);
        Ok(Alive::Request(self.writer.apply(permitted(plan)?).await?, left))
    }

    /// Makes the withdrawal of this number.
    async fn withdrawal(&mut self, number: u32, now: Timestamp) -> anyhow::Result<()> {
        use withdrawal::Move::{Approve, Broadcast, Cancel, Complete, Fail, Process, Reject};
        let owner = random_below(self.population.user_count(), Series::Owner, u64::from(number));
        let user = UserId::new(i64::from(owner).saturating_add(1)).context("no owner")?;
        let by = self.population.operator().context("no operator")?;
        let txid = Line::new(&format!("{:064x}", random(Series::Song, u64::from(number))))?;
        let moves = match random_below(20, Series::Fate, u64::from(number)) {
            0..5 => vec![],
            5..7 => vec![Cancel],
            7..9 => vec![Reject { by }],
            9 => vec![Approve { by: Some(by), second_above: None }],
            10 => vec![Approve { by: Some(by), second_above: None }, Process, Fail],
            _ => vec![
                Approve { by: Some(by), second_above: None },
                Process,
                Broadcast { txid },
                Complete { txid: None },
            ],
        };
        let cents = random_below(10_000, Series::Amount, u64::from(number)).saturating_add(100);
        let amount = Amount::new(Money::from_minor(i128::from(cents))).context("no amount")?;
        let new = NewWithdrawal {
            amount: WithdrawalAmount::new(amount, &currency()?).context("less than the minimum")?,
            wallet_address: Line::new(&format!("bc1q{:032x}", random(Series::Owner, u64::from(number))))?,
            currency: Line::new("BTC")?,
            network: Line::new("bitcoin")?,
        };
        let id = WithdrawalId::new(i64::from(number)).context("invalid withdrawal id")?;
        let metadata = self.writer.metadata(Actor::User(user), now);
        let plan = plans::open_withdrawal(metadata, id, user, new, &WithdrawalTerms::default());
        let withdrawal = self.writer.apply(permitted(plan)?).await?;
        self.then(Alive::Withdrawal(withdrawal, moves.into_iter()), now);
        Ok(())
    }

    async fn move_withdrawal(
        &mut self,
        withdrawal: Withdrawal,
        mut left: vec::IntoIter<withdrawal::Move>,
        now: Timestamp,
    ) -> anyhow::Result<Alive> {
        let to = left.next().context("no move remains")?;
        let actor = match &to {
            withdrawal::Move::Cancel => Actor::User(withdrawal.user),
            _ => Actor::User(self.population.operator().context("no operator")?),
        };
        let plan = plans::move_withdrawal(self.writer.metadata(actor, now), &withdrawal, to);
        Ok(Alive::Withdrawal(self.writer.apply(permitted(plan)?).await?, left))
    }
}

/// Returns the content of the request of this number.
fn song(number: u32, dj: UserId) -> anyhow::Result<NewRequest> {
    let drawn = random(Series::Song, u64::from(number));
    let place = usize::try_from(random_below(u32::try_from(SONGS.len())?, Series::Song, u64::from(number)))?;
    let (title, artist) = SONGS.get(place).context("no song")?;
    Ok(NewRequest {
        dj,
        song_title: Line::new(title)?,
        artist_name: Line::new(artist)?,
        artist_type: if drawn.is_multiple_of(3) { ArtistType::Upcoming } else { ArtistType::Popular },
        music_url: Some(MusicUrl::new(&format!("https://music.example.com/track/{drawn:016x}"))?),
        fee: None,
        message: None,
    })
}
