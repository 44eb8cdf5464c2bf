//! What happened at a gig, in numbers.

use std::collections::{BTreeMap, BTreeSet};

use time::Duration;

use crate::gig::song::SongKey;
use crate::ids::{RequestId, UserId};
use crate::money::Money;
use crate::music_request::{MusicRequest, RequestState, RequestStatus, Stars};
use crate::text::Line;
use crate::user::Rating;

/// The number of songs in a report.
const TOP_SONGS: usize = 10;

/// The numbers of a gig.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct GigReport {
    /// The number of requests of each status.
    pub requests: BTreeMap<RequestStatus, u64>,
    /// The fees of played requests, without refunded ones.
    pub gross: Money,
    /// The platform's part of [`Self::gross`].
    pub commission: Money,
    /// The DJ's part of [`Self::gross`].
    pub net: Money,
    /// The fees of refunded requests.
    pub refunded: Money,
    /// The tips, before the commission.
    pub tips: Money,
    /// The number of guests with a request that was not cancelled.
    pub guests: u64,
    /// The mean time from a request to its play; `None` before the first play.
    pub mean_wait: Option<Duration>,
    /// The songs with the most requests that were not cancelled, then the most plays, then the earliest request.
    pub top_songs: Vec<RequestedSong>,
    /// The ratings of its requests.
    pub rating: Rating,
}

/// A song of a gig.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RequestedSong {
    /// The title in its earliest request.
    pub song_title: Line,
    /// The artist in its earliest request.
    pub artist_name: Line,
    /// The number of its requests that were not cancelled.
    pub requests: u64,
    /// The number of those that were played, refunded ones included.
    pub played: u64,
}

impl GigReport {
    /// The report on these requests, in the order of their ids, and on this number of cancelled ones, with ratings of
    /// requests and the sum of the tips; `None` if a sum is too large.
    #[must_use]
    pub fn new(
        requests: &[MusicRequest],
        cancelled: u64,
        stars: &BTreeMap<RequestId, Stars>,
        tips: Money,
    ) -> Option<Self> {
        let mut report = Self { top_songs: top_songs(requests), tips, ..Self::default() };
        report.requests.insert(RequestStatus::Cancelled, cancelled);
        let mut guests: BTreeSet<UserId> = BTreeSet::new();
        let mut waits: Vec<i64> = Vec::new();
        for request in requests {
            guests.insert(request.requester);
            let count = report.requests.entry(request.state.status()).or_default();
            *count = count.saturating_add(1);
            match request.state {
                RequestState::Played { at, commission } => {
                    report.gross = report.gross.checked_add(request.fee)?;
                    report.commission = report.commission.checked_add(commission)?;
                    waits.push(at.unix_micros().saturating_sub(request.created_at.unix_micros()));
                }
                RequestState::Refunded { .. } => {
                    report.refunded = report.refunded.checked_add(request.fee)?;
                }
                _ => {}
            }
        }
        report.net = report.gross.checked_sub(report.commission)?;
        report.guests = u64::try_from(guests.len()).unwrap_or(u64::MAX);
        report.mean_wait = mean(&waits).map(Duration::microseconds);
        for stars in stars.values() {
            report.rating.stars = report.rating.stars.saturating_add(stars.get().into());
            report.rating.count = report.rating.count.saturating_add(1);
        }
        Some(report)
    }
}

/// The mean of these numbers, rounded down.
fn mean(numbers: &[i64]) -> Option<i64> {
    let count = i64::try_from(numbers.len()).ok()?;
    numbers.iter().copied().fold(0, i64::saturating_add).checked_div(count)
}

/// The songs with the most requests. Different spellings of a song count together.
fn top_songs(requests: &[MusicRequest]) -> Vec<RequestedSong> {
    let mut places: BTreeMap<SongKey, usize> = BTreeMap::new();
    let mut songs: Vec<RequestedSong> = Vec::new();
    for request in requests {
        let key = SongKey::of(&request.song_title, &request.artist_name);
        let place = *places.entry(key).or_insert(songs.len());
        if place == songs.len() {
            songs.push(RequestedSong {
                song_title: request.song_title.clone(),
                artist_name: request.artist_name.clone(),
                requests: 0,
                played: 0,
            });
        }
        if let Some(song) = songs.get_mut(place) {
            song.requests = song.requests.saturating_add(1);
            song.played = song.played.saturating_add(u64::from(request.was_played()));
        }
    }
    // A stable sort: songs with equal numbers keep the order of their earliest requests.
    songs.sort_by_key(|song| std::cmp::Reverse((song.requests, song.played)));
    songs.truncate(TOP_SONGS);
    songs
}
