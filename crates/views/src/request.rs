//! Views of music requests for clients.

use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request;

use crate::view;
use crate::wire::money::Number;
use crate::wire::names;
use crate::wire::time::WireTimestamp;

view! {
    /// A request for a song.
    pub struct MusicRequestView<'r> as MusicRequest of (
        request: &'r music_request::MusicRequest,
        currency: &Currency,
    ) {
        /// Id of the request.
        #[id(example = 42)]
        id: i64 = request.id.get(),
        /// Id of the guest who made the request.
        #[id(example = 8)]
        user_id: i64 = request.requester.get(),
        /// Id of the DJ who received it.
        #[id(example = 7)]
        dj_id: i64 = request.dj.get(),
        /// Title of the song.
        #[schema(example = "Blue Monday")]
        song_title: &'r str = request.song_title.as_str(),
        /// Name of the artist.
        #[schema(example = "New Order")]
        artist_name: &'r str = request.artist_name.as_str(),
        /// Popularity of the artist. It selects the DJ's price.
        #[schema(value_type = names::ArtistType)]
        artist_type: &'static str = request.artist_type.name(),
        /// Address of the song. The service never fetches it.
        #[schema(example = "https://example.com/blue-monday")]
        music_url: &'r str = request.music_url.as_str(),
        /// Fee in major units, fixed when the request is created.
        #[decimal(example = 10.00)]
        fee: Number = Number::money(currency, request.fee),
        /// Status.
        #[schema(value_type = names::MusicRequestStatus)]
        status: &'static str = request.state.status().name(),
        /// Time of creation.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        created_at: WireTimestamp = WireTimestamp(request.created_at),
        /// Time of the last change of the status. Of an expired request, it is the end of its time.
        #[timestamp(example = "2026-01-31T20:15:00.000000Z")]
        updated_at: WireTimestamp = WireTimestamp(request.updated_at()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_domain::ids::{RequestId, UserId};
    use cuepoint_domain::money::Money;
    use cuepoint_domain::music_request::RequestState;
    use cuepoint_domain::text::{Line, MusicUrl};
    use cuepoint_domain::timestamp::Timestamp;
    use cuepoint_domain::user::ArtistType;

    #[test]
    fn the_json_of_a_music_request_has_exactly_the_specified_fields() {
        let request = music_request::MusicRequest {
            id: RequestId::new(42).unwrap(),
            requester: UserId::new(8).unwrap(),
            dj: UserId::new(7).unwrap(),
            song_title: Line::new("Blue Monday").unwrap(),
            artist_name: Line::new("New Order").unwrap(),
            artist_type: ArtistType::Popular,
            music_url: MusicUrl::new("https://example.com/x").unwrap(),
            fee: Money::from_minor(1_000),
            gig: None,
            counts_as_guest: false,
            state: RequestState::Rejected { at: Timestamp::from_unix_micros(2), displaced: false },
            created_at: Timestamp::from_unix_micros(1),
        };
        let view = MusicRequestView::new(&request, &Currency::new("USD", 2).unwrap());
        assert_eq!(
            serde_json::to_string(&view).unwrap(),
            concat!(
                r#"{"id":42,"user_id":8,"dj_id":7,"song_title":"Blue Monday","artist_name":"New Order","#,
                r#""artist_type":"popular","music_url":"https://example.com/x","fee":10.00,"#,
                r#""status":"rejected","created_at":"1970-01-01T00:00:00.000001Z","#,
                r#""updated_at":"1970-01-01T00:00:00.000002Z"}"#
            )
        );
    }
}
