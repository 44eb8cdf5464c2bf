//! The order of a gig's queue, as [`QueueOrder`] describes it.
//!
//! The order advises. The DJ may play any request at any time.

use std::collections::BTreeMap;

use time::Duration;

use crate::gig::QueueOrder;
use crate::ids::{RequestId, UserId};
use crate::money::Money;
use crate::music_request::{MusicRequest, RequestState};
use crate::timestamp::Timestamp;

/// The interval between two plays before three songs were played.
const USUAL_INTERVAL: Duration = Duration::minutes(4);
/// The longest interval that counts: a longer one is a break.
const LONGEST_INTERVAL: Duration = Duration::minutes(15);
/// The number of plays from which on the interval is measured.
const MEASURED_PLAYS: usize = 3;
/// The number of the newest intervals that are measured.
const MEASURED_INTERVALS: usize = 10;
/// The first round.
const FIRST_ROUND: u32 = 1;
/// Microseconds in a minute.
const MINUTE: i64 = 60_000_000;

/// A request that waits in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WaitingSong {
    pub id: RequestId,
    pub guest: UserId,
    pub fee: Money,
    /// The time of the request.
    pub created_at: Timestamp,
}

impl WaitingSong {
    /// A request at this fee that is made now, of this guest, or of one without other songs in the queue.
    #[must_use]
    pub fn offer(guest: Option<UserId>, fee: Money, now: Timestamp) -> Self {
        Self { id: RequestId::LAST, guest: guest.unwrap_or(UserId::LAST), fee, created_at: now }
    }
}

impl From<&MusicRequest> for WaitingSong {
    fn from(request: &MusicRequest) -> Self {
        Self { id: request.id, guest: request.requester, fee: request.fee, created_at: request.created_at }
    }
}

/// A song that was played.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PlayedSong {
    /// The time of the play.
    pub at: Timestamp,
    pub id: RequestId,
    pub guest: UserId,
}

impl PlayedSong {
    /// The song of a request; `None` unless it is played. A refunded one does not count: the time of its play is not
    /// stored.
    #[must_use]
    pub fn of(request: &MusicRequest) -> Option<Self> {
        match request.state {
            RequestState::Played { at, .. } => Some(Self { at, id: request.id, guest: request.requester }),
            _ => None,
        }
    }
}

/// The facts about played songs that decide the order of a queue. They are computed once for all places and offers.
#[derive(Clone, Debug)]
pub struct Plays {
    /// The last round of each guest.
    last_rounds: BTreeMap<UserId, u32>,
    /// The current round.
    current: u32,
    /// The expected interval between two plays, in microseconds.
    interval: i64,
}

impl Plays {
    /// The plays of these songs, in any order.
    #[must_use]
    pub fn of(played: &[PlayedSong]) -> Self {
        let mut plays = played.to_vec();
        plays.sort_unstable();
        let mut last_rounds: BTreeMap<UserId, u32> = BTreeMap::new();
        let mut current = FIRST_ROUND;
        for play in &plays {
            let last = last_rounds.entry(play.guest).or_insert(0);
            current = current.max(last.saturating_add(1));
            *last = current;
        }
        Self { last_rounds, current, interval: interval(&plays) }
    }
}

/// A place in the queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    pub request: RequestId,
    /// The number of the place, from 1 on.
    pub position: u32,
    /// The round of the song; `None` in the order of arrival.
    pub round: Option<u32>,
    /// The expected wait in minutes.
    pub wait_minutes: u32,
    pub reason: PlaceReason,
}

/// Why a place is not the first one: the numbers of the songs before it, by the reason why they come first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlaceReason {
    /// The highest round of the queue; 0 in the order of arrival.
    pub rounds: u32,
    /// Songs of earlier rounds.
    pub earlier_rounds: u32,
    /// Songs of the same round with a higher fee.
    pub higher_fees: u32,
    /// Songs of the same round with the same fee that were requested earlier; all earlier ones in the order of arrival.
    pub earlier_requests: u32,
}

impl Place {
    /// Whether the wait passes the time in which the request can be played: until its deadline once it is accepted, and
    /// before that for the period that an accepted request would have from now on.
    #[must_use]
    pub fn is_at_risk(&self, state: RequestState, played_within: Duration, now: Timestamp) -> bool {
        let play_by = match state {
            RequestState::Accepted { play_by, .. } => play_by,
            _ => now.plus(played_within),
        };
        now.plus(Duration::minutes(self.wait_minutes.into())) > play_by
    }
}

/// A waiting song with its round.
struct Ranked {
    round: u32,
    song: WaitingSong,
}

impl Ranked {
    /// The key by which songs are sorted.
    fn key(&self, order: QueueOrder) -> (u32, i128, Timestamp, RequestId) {
        match order {
            QueueOrder::Rounds => {
                let fee = self.song.fee.minor();
                (self.round, fee.saturating_neg(), self.song.created_at, self.song.id)
            }
            QueueOrder::Arrival => (0, 0, self.song.created_at, self.song.id),
        }
    }
}

/// The places of all waiting songs, in their order.
///
/// The round of a played song is the greater of its guest's last round plus one and the current round. It becomes the
/// last round of the guest, and the current one. The n-th waiting song of a guest, from 0 on, is in the greater of the
/// last round plus one and the current round, plus n.
#[must_use]
pub fn places(order: QueueOrder, waiting: &[WaitingSong], plays: &Plays) -> Vec<Place> {
    let mut ranked = ranked(waiting, plays);
    ranked.sort_unstable_by_key(|ranked| ranked.key(order));
    let rounds = ranked.iter().map(|ranked| ranked.round).max().unwrap_or(0);
    let mut places: Vec<Place> = Vec::with_capacity(ranked.len());
    let mut reason = PlaceReason::default();
    let mut before: Option<&Ranked> = None;
    for (position, next) in (1..).zip(&ranked) {
        reason = following(order, reason, before, next, position);
        before = Some(next);
        let is_in_rounds = order == QueueOrder::Rounds;
        places.push(Place {
            request: next.song.id,
            position,
            round: is_in_rounds.then_some(next.round),
            wait_minutes: wait_minutes(position, plays.interval),
            reason: PlaceReason { rounds: if is_in_rounds { rounds } else { 0 }, ..reason },
        });
    }
    places
}

/// The place that another song of a guest would have at this fee now.
#[must_use]
pub fn place_of_offer(
    order: QueueOrder,
    waiting: &[WaitingSong],
    plays: &Plays,
    offer: WaitingSong,
) -> Option<Place> {
    let all: Vec<WaitingSong> = waiting.iter().copied().chain([offer]).collect();
    places(order, &all, plays).into_iter().find(|place| place.request == offer.id)
}

/// The reason of the place at this position, after the reason of the one before it.
fn following(
    order: QueueOrder,
    reason: PlaceReason,
    before: Option<&Ranked>,
    next: &Ranked,
    position: u32,
) -> PlaceReason {
    let ahead = position.saturating_sub(1);
    let Some(before) = before else { return PlaceReason::default() };
    match order {
        QueueOrder::Arrival => PlaceReason { earlier_requests: ahead, ..reason },
        QueueOrder::Rounds if before.round != next.round => {
            PlaceReason { earlier_rounds: ahead, ..PlaceReason::default() }
        }
        QueueOrder::Rounds if before.song.fee != next.song.fee => {
            let higher_fees = ahead.saturating_sub(reason.earlier_rounds);
            PlaceReason { higher_fees, earlier_requests: 0, ..reason }
        }
        QueueOrder::Rounds => {
            PlaceReason { earlier_requests: reason.earlier_requests.saturating_add(1), ..reason }
        }
    }
}

/// The waiting songs with their rounds, after these plays.
fn ranked(waiting: &[WaitingSong], plays: &Plays) -> Vec<Ranked> {
    let mut by_id = waiting.to_vec();
    by_id.sort_unstable_by_key(|song| song.id);
    let mut last_rounds: BTreeMap<UserId, u32> = BTreeMap::new();
    let rank = |song: WaitingSong| {
        let played = plays.last_rounds.get(&song.guest).copied().unwrap_or(0);
        let last = last_rounds.entry(song.guest).or_insert(played);
        let round = plays.current.max(last.saturating_add(1));
        // So that the guest's next song is one round later.
        *last = round;
        Ranked { round, song }
    };
    by_id.into_iter().map(rank).collect()
}

/// The expected interval between two plays, in microseconds: the median of the newest ones.
fn interval(plays: &[PlayedSong]) -> i64 {
    let micros = |length: Duration| i64::try_from(length.whole_microseconds()).unwrap_or(i64::MAX);
    if plays.len() < MEASURED_PLAYS {
        return micros(USUAL_INTERVAL);
    }
    let gap = |earlier: &PlayedSong, later: &PlayedSong| {
        let length = later.at.unix_micros().saturating_sub(earlier.at.unix_micros());
        length.min(micros(LONGEST_INTERVAL))
    };
    let later = plays.iter().skip(1);
    let gaps = plays.iter().zip(later).map(|(earlier, later)| gap(earlier, later));
    let mut newest: Vec<i64> = gaps.rev().take(MEASURED_INTERVALS).collect();
    newest.sort_unstable();
    let middle = newest.len().div_euclid(2);
    let upper = newest.get(middle).copied().unwrap_or_default();
    let is_odd = newest.len() % 2 == 1;
    let lower = if is_odd { upper } else { newest.get(middle.saturating_sub(1)).copied().unwrap_or(upper) };
    lower.saturating_add(upper.saturating_sub(lower).div_euclid(2))
}

/// The expected wait in minutes of the song at this position, rounded up.
fn wait_minutes(position: u32, interval: i64) -> u32 {
    let micros = i64::from(position).saturating_mul(interval);
    let minutes = micros.saturating_add(MINUTE.saturating_sub(1)).div_euclid(MINUTE);
    u32::try_from(minutes).unwrap_or(u32::MAX)
}
