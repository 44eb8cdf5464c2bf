//! Music requests: the state's data in `expires_at`, `changed_at` and `commission`.

use bigdecimal::BigDecimal;
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request::{MusicRequest, RequestState, RequestStatus};
use cuepoint_domain::people::ArtistType;
use cuepoint_domain::text::{Line, MusicUrl};
use diesel::prelude::*;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{Corrupt, column_time, known, money, text, timestamp};
use crate::schema::music_requests;

/// A music request.
#[derive(Clone, Debug, Queryable, Selectable, Serialize, Deserialize)]
#[diesel(table_name = music_requests, check_for_backend(diesel::pg::Pg))]
pub(crate) struct MusicRequestRow {
    pub(crate) id: i64,
    pub(crate) requester_id: i64,
    pub(crate) dj_id: i64,
    pub(crate) song_title: String,
    pub(crate) artist_name: String,
    pub(crate) artist_type: String,
    pub(crate) music_url: String,
    #[serde(with = "text::decimal")]
    pub(crate) fee: BigDecimal,
    pub(crate) status: String,
    #[serde(with = "text::micros::option")]
    pub(crate) expires_at: Option<OffsetDateTime>,
    /// When the state last changed; `created_at` while it is pending.
    #[serde(with = "text::micros")]
    pub(crate) changed_at: OffsetDateTime,
    #[serde(with = "text::decimal::option")]
    pub(crate) commission: Option<BigDecimal>,
    #[serde(with = "text::micros")]
    pub(crate) created_at: OffsetDateTime,
}

impl MusicRequestRow {
    pub(crate) fn of(request: &MusicRequest, currency: &Currency) -> Self {
        let commission = match request.state {
            RequestState::Played { commission, .. } | RequestState::Refunded { commission, .. } => {
                Some(currency.to_decimal(commission))
            }
            RequestState::Pending { .. }
            | RequestState::Accepted { .. }
            | RequestState::Rejected { .. }
            | RequestState::Cancelled { .. }
            | RequestState::Expired { .. }
            | RequestState::Unknown { .. } => None,
        };
        Self {
            id: request.id.get(),
            requester_id: request.requester.get(),
            dj_id: request.dj.get(),
            song_title: request.song_title.as_str().to_owned(),
            artist_name: request.artist_name.as_str().to_owned(),
            artist_type: request.artist_type.name().to_owned(),
            music_url: request.music_url.as_str().to_owned(),
            fee: currency.to_decimal(request.fee),
            status: request.state.status().name().to_owned(),
            expires_at: request.state.expires_at().map(column_time),
            changed_at: column_time(request.updated_at()),
            commission,
            created_at: column_time(request.created_at),
        }
    }

    pub(crate) fn request(self, currency: &Currency) -> Result<MusicRequest, Corrupt> {
        let artist_type = ArtistType::named(&self.artist_type);
        Ok(MusicRequest {
            state: self.state(currency)?,
            id: known("music_requests.id", RequestId::new(self.id))?,
            requester: known("requester_id", UserId::new(self.requester_id))?,
            dj: known("dj_id", UserId::new(self.dj_id))?,
            song_title: Line::from_stored(self.song_title),
            artist_name: Line::from_stored(self.artist_name),
            artist_type: known("artist_type", artist_type)?,
            music_url: MusicUrl::from_stored(self.music_url),
            fee: money(currency, "fee", &self.fee)?,
            created_at: timestamp(self.created_at),
        })
    }

    fn state(&self, currency: &Currency) -> Result<RequestState, Corrupt> {
        let status = known("music_requests.status", RequestStatus::stored(&self.status))?;
        let at = timestamp(self.changed_at);
        let expires_at = self.expires_at.map(timestamp);
        let commission =
            self.commission.as_ref().map(|sum| money(currency, "commission", sum)).transpose()?;
        Ok(match (status, expires_at, commission) {
            (RequestStatus::Pending, Some(answer_by), None) => RequestState::Pending { answer_by },
            (RequestStatus::Accepted, Some(play_by), None) => RequestState::Accepted { at, play_by },
            (RequestStatus::Rejected, None, None) => RequestState::Rejected { at },
            (RequestStatus::Cancelled, None, None) => RequestState::Cancelled { at },
            (RequestStatus::Expired, None, None) => RequestState::Expired { at },
            (RequestStatus::Played, None, Some(commission)) => RequestState::Played { at, commission },
            (RequestStatus::Refunded, None, Some(commission)) => RequestState::Refunded { at, commission },
            (RequestStatus::Unknown(status), _, _) => RequestState::Unknown { status, at },
            _ => return Err(Corrupt::Column("music_requests.status")),
        })
    }
}
