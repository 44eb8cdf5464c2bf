//! The report on a gig.

use askama::Template;
use cuepoint_domain::application::queries::ReportedGig;
use cuepoint_domain::gig::quarters::QuarterHour;
use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::RequestStatus;

use super::bars::Bars;
use super::mean_stars;
use crate::format::ClockTime;
use crate::frame::{Frame, renders};
use crate::texts::Text;

/// The statuses in the order of the report.
const STATUSES: [RequestStatus; 7] = [
    RequestStatus::Played,
    RequestStatus::Refunded,
    RequestStatus::Accepted,
    RequestStatus::Pending,
    RequestStatus::Rejected,
    RequestStatus::Expired,
    RequestStatus::Cancelled,
];

/// The report on a gig, with its course by quarter of an hour.
#[derive(Template, Clone, Debug)]
#[template(path = "report/report.html")]
pub struct ReportPage<'a> {
    pub frame: &'a Frame<'a>,
    pub reported: &'a ReportedGig,
}

impl ReportPage<'_> {
    /// The numbers of requests by status, without statuses that do not occur.
    fn statuses(&self) -> Vec<(Text, u64)> {
        let t = self.frame.t;
        let name = |status| match status {
            RequestStatus::Played => t.status_played(),
            RequestStatus::Refunded => t.status_refunded(),
            RequestStatus::Accepted => t.status_accepted(),
            RequestStatus::Pending => t.status_pending(),
            RequestStatus::Rejected => t.status_rejected(),
            RequestStatus::Expired => t.status_expired(),
            RequestStatus::Cancelled | RequestStatus::Unknown(_) => t.status_cancelled(),
        };
        let counted = |status| Some((name(status), *self.reported.report.requests.get(&status)?));
        STATUSES.into_iter().filter_map(counted).filter(|(_, count)| *count > 0).collect()
    }

    fn stars(&self) -> Option<String> {
        mean_stars(self.reported.report.rating, self.frame)
    }

    fn mean_wait(&self) -> Option<Text> {
        let minutes = self.reported.report.mean_wait?.whole_minutes();
        Some(self.frame.t.whole_minutes(minutes))
    }

    fn requests_bars(&self) -> Bars {
        let values = self.reported.quarters.iter().map(|quarter| i128::from(quarter.requests));
        Bars::new(self.frame.t.requests_by_quarter(), values)
    }

    fn earned_bars(&self) -> Bars {
        let values = self.reported.quarters.iter().map(|quarter| quarter.earned.minor());
        Bars::new(self.frame.t.earned_by_quarter(), values)
    }

    fn most_requests(&self) -> u64 {
        self.reported.quarters.iter().map(|quarter| quarter.requests).max().unwrap_or(0)
    }

    fn most_earned(&self) -> Money {
        self.reported.quarters.iter().map(|quarter| quarter.earned).max().unwrap_or(Money::ZERO)
    }

    /// The times below a picture: its beginning, its middle and its end.
    fn times(&self) -> Vec<ClockTime> {
        let quarters = &self.reported.quarters;
        let middle = quarters.get(quarters.len().div_euclid(2)).filter(|_| quarters.len() > 3);
        let ends = [quarters.first().map(|quarter| quarter.from), middle.map(|quarter| quarter.from)];
        let last = quarters.last().map(QuarterHour::until);
        ends.into_iter().chain([last]).flatten().map(ClockTime).collect()
    }

    fn clock(&self, quarter: &QuarterHour) -> ClockTime {
        ClockTime(quarter.from)
    }
}

renders!(ReportPage);
