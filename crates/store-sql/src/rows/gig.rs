//! Gigs, and the codes of DJs.

use cuepoint_domain::gig::{AssignedCode, DjCode, Gig, GigDetails, GigRecord, GigStatus, GuestLimit};
use cuepoint_domain::ids::{GigId, GigRecordId, UserId};
use cuepoint_domain::money::Currency;
use cuepoint_domain::text::{GigTitle, Line, ShortMessage};
use cuepoint_domain::user::Coordinates;

use super::{Corrupt, Named, known};
use crate::entity_rows::Rowed;
use crate::schema::{StoredCode, StoredGig, StoredGigRecord};

impl Rowed for Gig {
    type Row = StoredGig;

    fn row(&self, _currency: &Currency) -> StoredGig {
        let details = &self.details;
        let text = |line: &Option<Line>| line.as_ref().map(|line| line.as_str().to_owned());
        StoredGig {
            id: self.id.get(),
            dj_id: self.dj.get(),
            code: self.code.as_str().to_owned(),
            title: details.title.as_str().to_owned(),
            venue: text(&details.venue),
            city: text(&details.city),
            latitude: details.coordinates.map(Coordinates::latitude),
            longitude: details.coordinates.map(Coordinates::longitude),
            message: details.message.as_ref().map(|message| message.as_str().to_owned()),
            queue_order: Named::of(details.queue_order),
            max_open_per_guest: details.max_open_per_guest.get().into(),
            members_only: details.members_only,
            opened_at: self.opened_at,
            ended_at: self.ended_at,
            settled: self.settled,
            asks_kind: details.asks_kind,
        }
    }

    fn of_row(row: StoredGig, _currency: &Currency) -> Result<Self, Corrupt> {
        let coordinates = match (row.latitude, row.longitude) {
            (None, None) => None,
            (Some(latitude), Some(longitude)) => {
                Some(known("gigs.latitude", Coordinates::new(latitude, longitude))?)
            }
            _ => return Err(Corrupt::Column("gigs.latitude")),
        };
        let limit = u8::try_from(row.max_open_per_guest).ok().and_then(GuestLimit::new);
        Ok(Self {
            id: known("gigs.id", GigId::new(row.id))?,
            dj: known("gigs.dj_id", UserId::new(row.dj_id))?,
            code: known("gigs.code", DjCode::new(&row.code))?,
            details: GigDetails {
                title: GigTitle::from_stored(row.title),
                venue: row.venue.map(Line::from_stored),
                city: row.city.map(Line::from_stored),
                coordinates,
                message: row.message.map(ShortMessage::from_stored),
                queue_order: known("gigs.queue_order", row.queue_order.get())?,
                max_open_per_guest: known("gigs.max_open_per_guest", limit)?,
                members_only: row.members_only,
                asks_kind: row.asks_kind,
            },
            opened_at: row.opened_at,
            ended_at: row.ended_at,
            settled: row.settled,
        })
    }
}

impl StoredGigRecord {
    /// Converts the record of a gig to its form in receipts.
    pub(crate) fn of(record: &GigRecord) -> Self {
        Self {
            id: record.id.get(),
            dj_id: record.dj.get(),
            code: record.code.as_str().to_owned(),
            status: record.status.name().to_owned(),
        }
    }

    /// Converts it back.
    pub(crate) fn record(&self) -> Result<GigRecord, Corrupt> {
        Ok(GigRecord {
            id: known("receipt", GigRecordId::new(self.id))?,
            dj: known("receipt", UserId::new(self.dj_id))?,
            code: known("receipt", DjCode::new(&self.code))?,
            status: known("receipt", GigStatus::named(&self.status))?,
        })
    }
}

impl StoredCode {
    /// Converts an assignment to its row.
    #[must_use]
    pub fn of(assigned: &AssignedCode) -> Self {
        Self { code: assigned.code.as_str().to_owned(), dj_id: assigned.dj.get(), created_at: assigned.at }
    }

    /// Converts the row to its assignment.
    ///
    /// # Errors
    /// [`Corrupt`] if it cannot be read.
    pub fn assigned(&self) -> Result<AssignedCode, Corrupt> {
        Ok(AssignedCode {
            code: known("gig_codes.code", DjCode::new(&self.code))?,
            dj: known("gig_codes.dj_id", UserId::new(self.dj_id))?,
            at: self.created_at,
        })
    }
}
