//! Views of ratings for clients.

use cuepoint_domain::music_request::RequestRating;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::wire::time::WireTimestamp;

/// A rating of a request.
#[derive(Clone, Debug, Serialize, ToSchema)]
#[schema(as = Rating)]
pub struct RatingView {
    /// Id of the request.
    #[schema(minimum = 1, example = 42)]
    request_id: i64,
    /// Number of stars.
    #[schema(minimum = 1, maximum = 5, example = 5)]
    stars: u8,
    /// Time of the rating, or of its last change.
    #[schema(value_type = String, format = DateTime, example = "2026-01-31T20:15:00.000000Z")]
    rated_at: WireTimestamp,
}

/// A rating in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct RatingData {
    /// The rating.
    pub rating: RatingView,
}

impl RatingView {
    /// The rating.
    #[must_use]
    pub const fn new(rating: &RequestRating) -> Self {
        Self {
            request_id: rating.id.get(),
            stars: rating.stars.get(),
            rated_at: WireTimestamp(rating.rated_at),
        }
    }
}
