//! Views of ratings for clients.

use cuepoint_domain::music_request::RequestRating;

use crate::view;
use crate::wire::time::WireTimestamp;

view! {
    /// A rating of a played request.
    pub struct RatingView as Rating of (rating: &RequestRating) {
        /// Id of the request.
        #[id(example = 42)]
        request_id: i64 = rating.id.get(),
        /// Number of stars.
        #[schema(minimum = 1, maximum = 5, example = 5)]
        stars: u8 = rating.stars.get(),
        /// Time of the rating, or of its last change.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        rated_at: WireTimestamp = WireTimestamp(rating.rated_at),
    }
}
