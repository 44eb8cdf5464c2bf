//! Music requests; the data of the state is in `expires_at`, `changed_at`, `commission` and `displaced`.

use cuepoint_domain::ids::{GigId, RequestId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request::{MusicRequest, RequestState, RequestStatus};
use cuepoint_domain::text::{Line, MusicUrl};

use super::{Corrupt, Named, Sum, known, money};
use crate::entity_rows::Rowed;
use crate::schema::StoredRequest;

impl StoredRequest {
    /// Converts the row to its music request.
    pub fn request(self, currency: &Currency) -> Result<MusicRequest, Corrupt> {
        Ok(MusicRequest {
            state: self.state(currency)?,
            id: known("music_requests.id", RequestId::new(self.id))?,
            requester: known("requester_id", UserId::new(self.requester_id))?,
            dj: known("dj_id", UserId::new(self.dj_id))?,
            song_title: Line::from_stored(self.song_title),
            artist_name: Line::from_stored(self.artist_name),
            artist_type: known("artist_type", self.artist_type.get())?,
            music_url: MusicUrl::from_stored(self.music_url),
            fee: money(currency, "music_requests.fee", &self.fee)?,
            created_at: self.created_at,
            gig: self.gig_id.map(|id| known("music_requests.gig_id", GigId::new(id))).transpose()?,
            counts_as_guest: self.counts_as_guest,
        })
    }

    fn state(&self, currency: &Currency) -> Result<RequestState, Corrupt> {
        let status = known("music_requests.status", self.status.get())?;
        let at = self.changed_at;
        let expires_at = self.expires_at;
        let commission = self
            .commission
            .as_ref()
            .map(|sum| money(currency, "music_requests.commission", sum))
            .transpose()?;
        Ok(match (status, expires_at, commission) {
            (RequestStatus::Pending, Some(answer_by), None) => RequestState::Pending { answer_by },
            (RequestStatus::Accepted, Some(play_by), None) => RequestState::Accepted { at, play_by },
            (RequestStatus::Rejected, None, None) => RequestState::Rejected { at, displaced: self.displaced },
            (RequestStatus::Cancelled, None, None) => RequestState::Cancelled { at },
            (RequestStatus::Expired, None, None) => RequestState::Expired { at },
            (RequestStatus::Played, None, Some(commission)) => RequestState::Played { at, commission },
            (RequestStatus::Refunded, None, Some(commission)) => RequestState::Refunded { at, commission },
            (RequestStatus::Unknown(status), _, _) => RequestState::Unknown { status, at },
            _ => return Err(Corrupt::Column("music_requests.status")),
        })
    }
}

impl Rowed for MusicRequest {
    type Row = StoredRequest;

    fn row(&self, currency: &Currency) -> StoredRequest {
        let commission = match self.state {
            RequestState::Played { commission, .. } | RequestState::Refunded { commission, .. } => {
                Some(Sum::of(currency, commission))
            }
            RequestState::Pending { .. }
            | RequestState::Accepted { .. }
            | RequestState::Rejected { .. }
            | RequestState::Cancelled { .. }
            | RequestState::Expired { .. }
            | RequestState::Unknown { .. } => None,
        };
        StoredRequest {
            id: self.id.get(),
            requester_id: self.requester.get(),
            dj_id: self.dj.get(),
            song_title: self.song_title.as_str().to_owned(),
            artist_name: self.artist_name.as_str().to_owned(),
            artist_type: Named::of(self.artist_type),
            music_url: self.music_url.as_str().to_owned(),
            fee: Sum::of(currency, self.fee),
            status: Named::of(self.state.status()),
            expires_at: self.state.expires_at(),
            changed_at: self.updated_at(),
            commission,
            created_at: self.created_at,
            gig_id: self.gig.map(GigId::get),
            counts_as_guest: self.counts_as_guest,
            displaced: self.was_displaced(),
        }
    }

    fn of_row(row: StoredRequest, currency: &Currency) -> Result<Self, Corrupt> {
        row.request(currency)
    }
}
