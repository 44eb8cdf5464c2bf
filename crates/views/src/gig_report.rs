//! The report on a gig for its DJ.

use cuepoint_domain::application::queries::ReportedGig;
use cuepoint_domain::gig::report::{GigReport, RequestedSong};
use cuepoint_domain::money::Currency;
use cuepoint_domain::music_request::RequestStatus;
use serde::Serialize;
use time::Duration;
use utoipa::ToSchema;

use crate::gig::GigView;
use crate::people::rating;
use crate::view;
use crate::wire::money::Number;

view! {
    /// The numbers of requests of a gig, by status.
    pub struct GigRequestCountsView as GigRequestCounts of (report: &GigReport) {
        let count = |status| report.requests.get(&status).copied().unwrap_or_default();
        /// Requests that wait for the DJ's answer.
        #[schema(minimum = 0, example = 0)]
        pending: u64 = count(RequestStatus::Pending),
        /// Accepted requests that wait for their play.
        #[schema(minimum = 0, example = 0)]
        accepted: u64 = count(RequestStatus::Accepted),
        /// Played requests, without refunded ones.
        #[schema(minimum = 0, example = 30)]
        played: u64 = count(RequestStatus::Played),
        /// Refunded requests.
        #[schema(minimum = 0, example = 1)]
        refunded: u64 = count(RequestStatus::Refunded),
        /// Rejected requests.
        #[schema(minimum = 0, example = 4)]
        rejected: u64 = count(RequestStatus::Rejected),
        /// Cancelled requests.
        #[schema(minimum = 0, example = 2)]
        cancelled: u64 = count(RequestStatus::Cancelled),
        /// Expired requests.
        #[schema(minimum = 0, example = 1)]
        expired: u64 = count(RequestStatus::Expired),
    }
}

view! {
    /// A song of a gig.
    pub struct RequestedSongView<'r> as RequestedSong of (song: &'r RequestedSong) {
        /// Title in its earliest request.
        #[schema(example = "Blue Monday")]
        song_title: &'r str = song.song_title.as_str(),
        /// Artist in its earliest request.
        #[schema(example = "New Order")]
        artist_name: &'r str = song.artist_name.as_str(),
        /// Number of its requests that were not cancelled.
        #[schema(minimum = 1, example = 3)]
        requests: u64 = song.requests,
        /// Number of those that were played, refunded ones included.
        #[schema(minimum = 0, example = 1)]
        played: u64 = song.played,
    }
}

view! {
    /// What happened at a gig, in numbers. Sums are in major units.
    pub struct GigReportView<'r> as GigReport of (reported: &'r ReportedGig, currency: &Currency) {
        let report = &reported.report;
        /// The gig.
        gig: GigView = GigView::new(&reported.gig),
        /// Numbers of its requests.
        requests: GigRequestCountsView = GigRequestCountsView::new(report),
        /// Fees of played requests, without refunded ones.
        #[decimal(example = 300.00)]
        gross: Number = Number::money(currency, report.gross),
        /// The platform's part of `gross`.
        #[decimal(example = 45.00)]
        commission: Number = Number::money(currency, report.commission),
        /// The DJ's part of `gross`.
        #[decimal(example = 255.00)]
        net: Number = Number::money(currency, report.net),
        /// Fees of refunded requests.
        #[decimal(example = 10.00)]
        refunded: Number = Number::money(currency, report.refunded),
        /// Tips, before the commission. `gross`, `commission` and `net` do not include them.
        #[decimal(example = 15.00)]
        tips: Number = Number::money(currency, report.tips),
        /// Number of guests with a request that was not cancelled.
        #[schema(minimum = 0, example = 18)]
        guests: u64 = report.guests,
        /// Mean time in minutes from a request to its play, rounded up; null before the first play.
        #[schema(minimum = 0, example = 12)]
        mean_wait_minutes: Option<i64> = report.mean_wait.map(minutes),
        /// The songs with the most requests, at most ten. Different spellings of a song count together.
        top_songs: Vec<RequestedSongView<'r>> = report.top_songs.iter().map(RequestedSongView::new).collect(),
        /// Mean rating of its requests from 1 to 5 stars with two decimals; 0 without ratings.
        #[decimal(minimum = 0, maximum = 5, example = 4.67)]
        rating: Number = rating(report.rating),
        /// Number of rated requests.
        #[schema(minimum = 0, example = 3)]
        rating_count: i64 = report.rating.count,
    }
}

/// A time in minutes, rounded up.
fn minutes(time: Duration) -> i64 {
    let whole = time.whole_minutes();
    if time > Duration::minutes(whole) { whole.saturating_add(1) } else { whole }
}

/// The report on a gig in an answer.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GigReportData<'r> {
    /// The report.
    pub report: GigReportView<'r>,
}
