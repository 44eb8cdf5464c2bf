//! Views of gigs and their queues for clients.

use cuepoint_domain::application::queries::{QueueTotals, QueuedRequest, ShownGig, ShownQueue};
use cuepoint_domain::gig::queue::Place;
use cuepoint_domain::gig::{Gig, GigRecord};
use cuepoint_domain::money::Currency;
use cuepoint_domain::user::Coordinates;
use serde::Serialize;
use utoipa::ToSchema;

use crate::request::MusicRequestView;
use crate::view;
use crate::wire::money::Number;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// A gig in an event. It has no texts, because texts can be erased.
    pub struct GigRecordView as GigRecord of (record: &GigRecord) {
        /// Id of the gig.
        #[id(example = 5)]
        id: i64 = record.id.get(),
        /// Id of the DJ.
        #[id(example = 7)]
        dj_id: i64 = record.dj.get(),
        /// Code of the DJ, under which guests find the gig.
        #[schema(example = "K7TW3M")]
        code: String = record.code.to_string(),
        /// Status after the event.
        #[schema(value_type = names::GigStatus)]
        status: &'static str = record.status.name(),
    }
}

view! {
    /// One evening of a DJ, without its status.
    pub struct GigDetailsView as GigDetails of (gig: &Gig) {
        let details = &gig.details;
        /// Id of the gig.
        #[id(example = 5)]
        id: i64 = gig.id.get(),
        /// Code of the DJ when the gig was opened. It stays the same from gig to gig, until `new_code` replaces it.
        #[schema(example = "K7TW3M")]
        code: String = gig.code.to_string(),
        /// Title.
        #[schema(example = "Friday at the Blue Room")]
        title: String = details.title.as_str().to_owned(),
        /// Venue, such as a club; null if not given.
        #[schema(example = "Blue Room")]
        venue: Option<String> = details.venue.as_ref().map(|venue| venue.as_str().to_owned()),
        /// City; null if not given.
        #[schema(example = "Berlin")]
        city: Option<String> = details.city.as_ref().map(|city| city.as_str().to_owned()),
        /// Latitude in degrees north; null together with `longitude`.
        #[schema(minimum = -90, maximum = 90, example = 52.52)]
        latitude: Option<f64> = details.coordinates.map(Coordinates::latitude),
        /// Longitude in degrees east; null together with `latitude`.
        #[schema(minimum = -180, maximum = 180, example = 13.405)]
        longitude: Option<f64> = details.coordinates.map(Coordinates::longitude),
        /// Message to the guests; null if there is none.
        #[schema(example = "No slow songs before midnight")]
        message: Option<String> = details.message.as_ref().map(|message| message.as_str().to_owned()),
        /// Order in which the queue advises the DJ to play.
        #[schema(value_type = names::QueueOrder)]
        queue_order: &'static str = details.queue_order.name(),
        /// Largest number of open requests of one guest.
        #[schema(minimum = 1, maximum = 100, example = 3)]
        max_open_per_guest: u8 = details.max_open_per_guest.get(),
        /// 1 if guest accounts cannot make requests, otherwise 0.
        #[schema(minimum = 0, maximum = 1, example = 0)]
        members_only: u8 = u8::from(details.members_only),
        /// 1 if the pages ask guests for the kind of their song, otherwise 0.
        #[schema(minimum = 0, maximum = 1, example = 0)]
        asks_kind: u8 = u8::from(details.asks_kind),
        /// Time of the opening.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        opened_at: WireTimestamp = WireTimestamp(gig.opened_at),
        /// Time of the end; null before it.
        #[timestamp_or_null(example = json!(null))]
        ended_at: Option<WireTimestamp> = gig.ended_at.map(WireTimestamp),
    }
}

view! {
    /// One evening of a DJ.
    pub struct GigView as Gig of (shown: &ShownGig) {
        /// The gig.
        #[serde(flatten)]
        details: GigDetailsView = GigDetailsView::new(&shown.gig),
        /// Status.
        #[schema(value_type = names::GigStatus)]
        status: &'static str = shown.status.name(),
    }
}

view! {
    /// A place in the queue of a gig.
    pub struct PlaceView as QueuePlace of (place: &Place) {
        /// Number of the place, from 1 on.
        #[schema(minimum = 1, example = 4)]
        position: u32 = place.position,
        /// Round of the song; null in the order of arrival.
        #[schema(minimum = 1, example = 2)]
        round: Option<u32> = place.round,
        /// Expected wait in minutes.
        #[schema(minimum = 0, example = 16)]
        wait_minutes: u32 = place.wait_minutes,
        /// Reason of the place, for people.
        #[schema(example = "Round 2 of 3: 2 songs of earlier rounds and 1 higher offer come first.")]
        reason: String = reason(place),
    }
}

/// The reason of a place in words.
fn reason(place: &Place) -> String {
    let reason = &place.reason;
    let counted = |number: u32, one: &str, several: &str| match number {
        0 => None,
        1 => Some(format!("1 {one}")),
        more => Some(format!("{more} {several}")),
    };
    let ahead: Vec<String> = [
        counted(reason.earlier_rounds, "song of an earlier round", "songs of earlier rounds"),
        counted(reason.higher_fees, "higher offer", "higher offers"),
        counted(reason.earlier_requests, "earlier request", "earlier requests"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let verb = if place.position == 2 { "comes" } else { "come" };
    let ahead = match ahead.split_last() {
        None => "this song is next.".to_owned(),
        Some((last, [])) => format!("{last} {verb} first."),
        Some((last, rest)) => format!("{} and {last} come first.", rest.join(", ")),
    };
    match place.round {
        Some(round) => format!("Round {round} of {}: {ahead}", reason.rounds),
        None => format!("Order of arrival: {ahead}"),
    }
}

view! {
    /// The guest of a queued request.
    pub struct QueuedGuestView as QueuedGuest of (queued: &QueuedRequest) {
        /// Id of the guest.
        #[id(example = 8)]
        id: i64 = queued.request.requester.get(),
        /// Display name; null for an erased guest.
        #[schema(example = "Ada")]
        name: Option<String> = queued.guest_name.as_ref().map(|name| name.as_str().to_owned()),
    }
}

view! {
    /// An open request in the queue of a gig.
    pub struct QueuedRequestView<'q> as QueuedRequest of (queued: &'q QueuedRequest, currency: &Currency) {
        /// The request.
        request: MusicRequestView<'q> = MusicRequestView::new(&queued.request, currency),
        /// Time at which the request expires.
        #[timestamp_or_null(example = "2026-01-31T20:45:00.000000Z")]
        expires_at: Option<WireTimestamp> = queued.request.state.expires_at().map(WireTimestamp),
        /// Whether the request may expire before its turn. An accepted one: its expected wait passes its deadline. A pending
        /// one: the wait passes the period in which an accepted request must be played.
        #[schema(example = false)]
        at_risk: bool = queued.is_at_risk,
        /// The guest.
        guest: QueuedGuestView = QueuedGuestView::new(queued),
        /// Dedication; null if there is none.
        #[schema(example = "For Grace, who turns 30")]
        message: Option<&'q str> = queued.message.as_ref().map(|message| message.as_str()),
        /// The place.
        place: PlaceView = PlaceView::new(&queued.place),
        /// Ids of other open requests of the same song, by place; at most ten.
        #[schema(example = json!([43]))]
        same_song: Vec<i64> = queued.same_song.iter().map(|id| id.get()).collect(),
    }
}

view! {
    /// The numbers of a gig.
    pub struct QueueTotalsView as QueueTotals of (totals: &QueueTotals, currency: &Currency) {
        /// Number of open requests.
        #[schema(minimum = 0, example = 12)]
        open: u64 = totals.open,
        /// Number of played requests, without refunded ones.
        #[schema(minimum = 0, example = 30)]
        played: u64 = totals.played,
        /// Number of guests with an open or played request.
        #[schema(minimum = 0, example = 18)]
        guests: u64 = totals.guests,
        /// What the DJ earned by played requests, after the commission, in major units.
        #[decimal(example = 255.00)]
        earned: Number = Number::money(currency, totals.earned),
        /// Fees of the open requests, in major units.
        #[decimal(example = 120.00)]
        held: Number = Number::money(currency, totals.held),
        /// Tips in the gig, before the commission, in major units.
        #[decimal(example = 15.00)]
        tips: Number = Number::money(currency, totals.tips),
    }
}

/// The queue of a gig.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct QueueData<'q> {
    /// The gig.
    pub gig: GigView,
    /// The open requests, in the order of their places.
    pub queue: Vec<QueuedRequestView<'q>>,
    /// The newest played requests, at most ten, newest first.
    pub last_played: Vec<MusicRequestView<'q>>,
    /// The numbers.
    pub totals: QueueTotalsView,
}

impl<'q> QueueData<'q> {
    /// The view of a queue.
    #[must_use]
    pub fn new(queue: &'q ShownQueue, currency: &Currency) -> Self {
        let played = queue.last_played.iter();
        Self {
            gig: GigView::new(&queue.gig),
            queue: queue.waiting.iter().map(|queued| QueuedRequestView::new(queued, currency)).collect(),
            last_played: played.map(|request| MusicRequestView::new(request, currency)).collect(),
            totals: QueueTotalsView::new(&queue.totals, currency),
        }
    }
}

/// A gig in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GigData {
    /// The gig.
    pub gig: GigView,
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::gig::queue::PlaceReason;
    use cuepoint_domain::ids::RequestId;

    #[test]
    fn places_name_their_reason() {
        let place = |position, round, reason| Place {
            request: RequestId::new(1).unwrap(),
            position,
            round,
            wait_minutes: 0,
            reason,
        };
        let rounds = PlaceReason { rounds: 3, ..PlaceReason::default() };
        for (place, expected) in [
            (place(1, Some(1), rounds), "Round 1 of 3: this song is next."),
            (
                place(2, Some(1), PlaceReason { higher_fees: 1, ..rounds }),
                "Round 1 of 3: 1 higher offer comes first.",
            ),
            (
                place(
                    6,
                    Some(2),
                    PlaceReason { earlier_rounds: 2, higher_fees: 2, earlier_requests: 1, ..rounds },
                ),
                "Round 2 of 3: 2 songs of earlier rounds, 2 higher offers and 1 earlier request come first.",
            ),
            (
                place(3, None, PlaceReason { earlier_requests: 2, ..PlaceReason::default() }),
                "Order of arrival: 2 earlier requests come first.",
            ),
        ] {
            assert_eq!(reason(&place), expected);
        }
    }
}
