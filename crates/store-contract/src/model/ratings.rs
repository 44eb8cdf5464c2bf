//! Ratings of played requests.

use std::collections::BTreeSet;

use super::{Model, Seen};
use crate::refusal::Refusal;

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
        let before = request.rating.replace((stars, now));
        let dj = self.people[request.dj].dj.as_mut().unwrap();
        dj.stars += stars - before.map_or(0, |(before, _)| before);
        dj.ratings += i64::from(before.is_none());
        Ok(Seen::Rating { stars, since: now })
    }
}
