//! Ratings of requests.

use cuepoint_domain::ids::RatingId;
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request::{RequestRating, Stars};

use super::{Corrupt, known};
use crate::entity_rows::Rowed;
use crate::schema::StoredRating;

impl Rowed for RequestRating {
    type Row = StoredRating;

    fn row(&self, _currency: &Currency) -> StoredRating {
        StoredRating { request_id: self.id.get(), stars: self.stars.get().into(), rated_at: self.rated_at }
    }

    fn of_row(row: StoredRating, _currency: &Currency) -> Result<Self, Corrupt> {
        let stars = u8::try_from(row.stars).ok().and_then(Stars::new);
        Ok(Self {
            id: known("ratings.request_id", RatingId::new(row.request_id))?,
            stars: known("ratings.stars", stars)?,
            rated_at: row.rated_at,
        })
    }
}
