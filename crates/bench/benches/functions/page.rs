//! Pages of a list as JSON.

use cuepoint_api::wire::envelope::ApiResponse;
use cuepoint_api::wire::page::Paging;
use cuepoint_api::wire::query::Query;
use cuepoint_domain::ids::{RequestId, UserId};
use cuepoint_domain::money::{Currency, Money};
use cuepoint_domain::music_request::{MusicRequest, RequestState};
use cuepoint_domain::page::Rows;
use cuepoint_domain::text::{Line, MusicUrl};
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::ArtistType;
use cuepoint_views::request::MusicRequestView as Shown;
use divan::Bencher;
use time::Duration;

/// The second page of 408 requests, from the query to the bytes of the body.
#[divan::bench]
fn fifteen_requests(bencher: Bencher<'_, '_>) {
    let usd = Currency::new("USD", 2).unwrap();
    bencher.with_inputs(|| (1..=15).map(request).collect()).bench_values(|rows: Vec<MusicRequest>| {
        let path = "http://127.0.0.1:8080/api/v1/music/dj/requests".to_owned();
        let paging = Paging::read(&Query::parse("page=2"), path, &["status"]);
        let rows = Rows { rows, total: 408 };
        let page = paging.page(&rows, |request| Shown::new(request, &usd));
        ApiResponse::new("Music requests.", page)
    });
}

/// A pending request.
pub(crate) fn request(number: u32) -> MusicRequest {
    let created_at = Timestamp::from_unix_micros(1_767_225_600_000_000);
    MusicRequest {
        id: RequestId::new(number.into()).unwrap(),
        requester: UserId::new(8).unwrap(),
        dj: UserId::new(7).unwrap(),
        song_title: Line::new("Blue Monday").unwrap(),
        artist_name: Line::new("New Order").unwrap(),
        artist_type: ArtistType::Popular,
        music_url: MusicUrl::new("https://music.example.com/track/0123456789abcdef").unwrap(),
        fee: Money::from_minor(1_250),
        gig: None,
        counts_as_guest: false,
        state: RequestState::Pending { answer_by: created_at.plus(Duration::minutes(15)) },
        created_at,
    }
}
