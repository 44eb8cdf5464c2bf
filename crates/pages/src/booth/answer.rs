//! What a form of the booth did, in a sentence.

use cuepoint_domain::money::Money;
use cuepoint_domain::music_request::{MusicRequest, RequestState};
use cuepoint_domain::timestamp::Timestamp;

use crate::done::DoneNotice;
use crate::format::ClockTime;
use crate::frame::Frame;
use crate::texts::Text;

/// What a form of the booth did.
#[derive(Clone, Copy, Debug)]
pub enum BoothOutcome<'a> {
    Accepted,
    Played {
        /// What the DJ earned, after the commission.
        earned: Money,
    },
    Rejected {
        /// The fees that returned to the guests.
        returned: Money,
    },
    Blocked {
        /// The rejected requests of the guest.
        rejected: usize,
        returned: Money,
    },
    /// The rejection of requests of guest accounts has begun.
    RejectsGuests {
        matching: usize,
    },
    Paused,
    Resumed,
    Opened,
    Changed,
    Ended,
    /// The request has changed meanwhile, so that the form had no effect.
    TooLate {
        request: &'a MusicRequest,
    },
    /// There is no such request, or the gig has ended.
    Gone,
}

/// The answer to a form of the booth: the notice of the next page, or the whole body of the answer to the script.
#[derive(Clone, Copy, Debug)]
pub struct BoothAnswer<'a> {
    pub frame: &'a Frame<'a>,
    pub outcome: BoothOutcome<'a>,
}

impl BoothAnswer<'_> {
    /// The sentence, for [`crate::frame::PageNotice`].
    #[must_use]
    pub fn text(&self) -> Text {
        self.sentence(ClockTime::text)
    }

    /// The sentence with the times of the day in this form.
    fn sentence(&self, clock: impl Fn(ClockTime) -> String) -> Text {
        let t = self.frame.t;
        let amount = |money| self.frame.amount(money);
        match self.outcome {
            BoothOutcome::Accepted => t.did_accept(),
            BoothOutcome::Played { earned } => t.did_play(&amount(earned)),
            BoothOutcome::Rejected { returned } => t.did_reject(&amount(returned)),
            BoothOutcome::Blocked { rejected, returned } => t.did_block(rejected, &amount(returned)),
            BoothOutcome::RejectsGuests { matching } => t.rejects_guests(matching),
            BoothOutcome::Paused => t.did_pause(),
            BoothOutcome::Resumed => t.did_resume(),
            BoothOutcome::Opened => t.did_open(),
            BoothOutcome::Changed => t.did_change(),
            BoothOutcome::Ended => t.did_end(),
            BoothOutcome::Gone => t.request_gone(),
            BoothOutcome::TooLate { request } => self.too_late(request, |at| clock(ClockTime(at))),
        }
    }

    /// What the form did, as the next page says it, without amounts; `None` if it had no effect.
    #[must_use]
    pub const fn done(&self) -> Option<DoneNotice> {
        Some(match self.outcome {
            BoothOutcome::Accepted => DoneNotice::Accepted,
            BoothOutcome::Played { .. } => DoneNotice::Played,
            BoothOutcome::Rejected { .. } => DoneNotice::Rejected,
            BoothOutcome::Blocked { .. } => DoneNotice::Blocked,
            BoothOutcome::RejectsGuests { .. } => DoneNotice::RejectsGuests,
            BoothOutcome::Paused => DoneNotice::GigPaused,
            BoothOutcome::Resumed => DoneNotice::GigResumed,
            BoothOutcome::Opened => DoneNotice::GigOpened,
            BoothOutcome::Changed => DoneNotice::Saved,
            BoothOutcome::Ended => DoneNotice::GigEnded,
            BoothOutcome::TooLate { .. } | BoothOutcome::Gone => return None,
        })
    }

    /// Whether the form had its effect.
    #[must_use]
    pub const fn is_done(&self) -> bool {
        self.done().is_some()
    }

    /// The sentence as an element, for the script.
    #[must_use]
    pub fn render(&self) -> String {
        // No text of a user is part of the sentence, so that its only mark-up is that of the time.
        let text = self.sentence(|at| at.to_string());
        format!("<p>{text}</p>")
    }

    fn too_late(&self, request: &MusicRequest, clock: impl Fn(Timestamp) -> String) -> Text {
        let t = self.frame.t;
        let fee = self.frame.amount(request.fee);
        match request.state {
            RequestState::Expired { at } => t.late_expired(&clock(at), &fee),
            RequestState::Cancelled { at } => t.late_cancelled(&clock(at), &fee),
            RequestState::Rejected { at, .. } => t.late_rejected(&clock(at), &fee),
            RequestState::Played { at, .. } => t.late_played(&clock(at)),
            RequestState::Pending { .. }
            | RequestState::Accepted { .. }
            | RequestState::Refunded { .. }
            | RequestState::Unknown { .. } => t.request_gone(),
        }
    }
}
