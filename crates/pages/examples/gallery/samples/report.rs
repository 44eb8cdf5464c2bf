//! Pages of the subject `report`.

use cuepoint_domain::application::queries::{ReportedGig, ShownGig};
use cuepoint_domain::gig::quarters::quarter_hours;
use cuepoint_domain::gig::report::GigReport;
use cuepoint_domain::gig::{Gig, GigStatus};
use cuepoint_domain::ids::GigId;
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{MusicRequest, RequestState};
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::user::Rating;
use cuepoint_pages::frame::{Frame, Viewer};
use cuepoint_pages::language::Language;
use cuepoint_pages::report::{PastGigsPage, ReportPage};
use time::Duration;

use super::{Sample, boards, booth, hostile, now, people, site};

/// A gig with so many requests.
fn reported(number: i64, requests: i64) -> ReportedGig {
    let days = Duration::days(7 * (number - 1) + 1);
    let shift =
        |gig: Gig| Gig { opened_at: gig.opened_at.minus(days), ended_at: Some(now().minus(days)), ..gig };
    let gig = shift(Gig { id: GigId::new(number).expect("an id"), ..boards::gig() });
    let made = |number: i64| {
        let song = boards::SONGS[usize::try_from(number * number % 9).expect("a number")];
        let minutes = (number * 37 + number * number * 5) % 180;
        let played = RequestState::Played {
            at: now().minus(days).minus(Duration::minutes(minutes - 20).max(Duration::ZERO)),
            commission: Money::from_minor(125),
        };
        let state = match number % 5 {
            0 => RequestState::Rejected { at: now(), displaced: false },
            1 => RequestState::Expired { at: now() },
            _ => played,
        };
        let request = booth::request(number, song, minutes, state);
        MusicRequest { created_at: request.created_at.minus(days), ..request }
    };
    let requests: Vec<MusicRequest> = (1..=requests).map(made).collect();
    let report = GigReport {
        tips: Money::from_minor(1_500),
        rating: Rating { stars: 45, count: 9 },
        ..GigReport::of(&requests).expect("a report")
    };
    let quarters = quarter_hours(&gig, &requests, now()).expect("quarters");
    ReportedGig { gig: ShownGig { gig, status: GigStatus::Ended }, report, quarters }
}

pub fn pages(language: Language) -> Vec<Sample> {
    let site = site();
    let dj = people::dj();
    let frame = Frame { viewer: Some(Viewer::of(&dj)), ..Frame::new(&site, language, now()) };
    let gigs: Vec<ReportedGig> = (1..=6).map(|number| reported(number, 12 + number * 11 % 31)).collect();
    let mut strange = reported(1, 20);
    for song in &mut strange.report.top_songs {
        song.song_title = boards::line(&hostile(255));
        song.artist_name = boards::line(&hostile(255));
    }
    let past = |gigs: &[ReportedGig], total| {
        PastGigsPage { frame: &frame, gigs, page: PageRequest::new(1, 6), total }.render()
    };
    let report = |reported| ReportPage { frame: &frame, reported }.render();
    vec![
        Sample::new("gigs", past(gigs.as_slice(), 12)),
        Sample::new("gigs-none", past(&[], 0)),
        Sample::new("report", report(&reported(1, 48))),
        Sample::new("report-empty", report(&reported(2, 0))),
        Sample::new("report-hostile", report(&strange)),
    ]
}
