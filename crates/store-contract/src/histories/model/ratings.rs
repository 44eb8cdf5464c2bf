//! Ratings of played requests.

use std::collections::{BTreeMap, BTreeSet};

use super::{Model, Seen};
use crate::harness::refusal::Refusal;

/// The time after the play in which a request can be rated.
pub(crate) const RATED_WITHIN_SECONDS: i64 = 7 * 24 * 60 * 60;

impl Model {
    pub(crate) fn rate(&mut self, place: usize, stars: i64, now: i64) -> Result<Seen, Refusal> {
        let request = &mut self.requests[place];
        let (current, since) = request.seen(now);
        if current != "played" || request.fee == 0 || now >= since + RATED_WITHIN_SECONDS {
            return Err(Refusal::Transition { current, allowed: BTreeSet::new() });
        }
        if let Some((before, since)) = request.rating
            && before == stars
        {
            return Ok(Seen::Rating { stars, since });
        }
        request.rating = Some((stars, now));
        let dj = request.dj;
        let (stars_of_dj, ratings_of_dj) = self.rating_of(dj);
        let rated = self.people[dj].dj.as_mut().unwrap();
        (rated.stars, rated.ratings) = (stars_of_dj, ratings_of_dj);
        Ok(Seen::Rating { stars, since: now })
    }

    /// The sum and the number of the ratings that count for a DJ: the newest rating of each guest in each gig, and outside
    /// gigs. Of two ratings at the same time, the rating of the later request is newer.
    fn rating_of(&self, dj: usize) -> (i64, i64) {
        let of_dj = self.requests.iter().enumerate().filter(|(_, request)| request.dj == dj);
        let mut newest = BTreeMap::new();
        for (place, request) in of_dj {
            if let Some((stars, at)) = request.rating {
                let counts = newest.entry((request.guest, request.gig)).or_insert((at, place, stars));
                *counts = (*counts).max((at, place, stars));
            }
        }
        (newest.values().map(|(_, _, stars)| stars).sum(), i64::try_from(newest.len()).unwrap())
    }
}
