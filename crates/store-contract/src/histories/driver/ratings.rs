//! Ratings of requests, run on the store and on the model.

use cuepoint_domain::ids::RatingId;
use cuepoint_domain::music_request::Stars;
use cuepoint_domain::operation::plans;

use super::HistoryDriver;
use crate::harness::scenario::Refused;

impl HistoryDriver<'_> {
    /// Rates a request, as its guest.
    pub(super) async fn rate(&mut self, place: usize, stars: u8, keyed: bool) -> Result<(), String> {
        let metadata = self.metadata(self.model.requests[place].guest, keyed);
        let stored = self.scenario.stored_request(self.requests[place]).await;
        let earlier = self.scenario.stored(RatingId::of(stored.id)).await;
        let plan = plans::rate_request(metadata, &stored, earlier, Stars::new(stars).unwrap());
        let answer = self.apply(plan.map_err(Refused::Request)).await;
        let model = self.model.rate(place, i64::from(stars), self.now);
        self.agree(answer, model)
    }
}
