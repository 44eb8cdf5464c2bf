//! Past evenings, compared.

use askama::Template;
use cuepoint_domain::application::queries::ReportedGig;
use cuepoint_domain::music_request::RequestStatus;
use cuepoint_domain::page::PageRequest;
use cuepoint_domain::timestamp::Timestamp;

use super::bars::Bars;
use super::mean_stars;
use crate::frame::{Frame, renders};
use crate::paging::PageLinks;

/// The gigs of the DJ with their numbers, newest first.
#[derive(Template, Clone, Debug)]
#[template(path = "report/past.html")]
pub struct PastGigsPage<'a> {
    pub frame: &'a Frame<'a>,
    /// The gigs of this page, newest first.
    pub gigs: &'a [ReportedGig],
    pub page: PageRequest,
    /// The number of gigs on all pages.
    pub total: u64,
}

impl PastGigsPage<'_> {
    /// The earnings of the evenings, oldest first.
    fn bars(&self) -> Bars {
        let earned = self.gigs.iter().rev().map(|gig| gig.report.net.minor());
        Bars::new(self.frame.t.earned_by_evening(), earned)
    }

    /// The times below the picture: the oldest evening and the newest one.
    fn ends(&self) -> Vec<Timestamp> {
        [self.gigs.last(), self.gigs.first()].into_iter().flatten().map(|gig| gig.gig.gig.opened_at).collect()
    }

    fn stars(&self, gig: &ReportedGig) -> String {
        mean_stars(gig.report.rating, self.frame).unwrap_or_default()
    }

    fn requests(&self, gig: &ReportedGig) -> u64 {
        gig.report.requests.values().copied().fold(0, u64::saturating_add)
    }

    fn played(&self, gig: &ReportedGig) -> u64 {
        gig.report.requests.get(&RequestStatus::Played).copied().unwrap_or(0)
    }

    fn paging(&self) -> PageLinks {
        PageLinks::new("/booth/gigs", self.page, self.total)
    }
}

renders!(PastGigsPage);
