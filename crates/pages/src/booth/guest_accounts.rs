//! The new requests that count as guests', which one form rejects.

use cuepoint_domain::application::queries::QueuedRequest;
use cuepoint_domain::money::Money;
use time::Duration;

use super::QueuePart;
use crate::texts::Text;

/// The times before now that the form offers, in minutes.
const MINUTES: [u16; 4] = [5, 15, 60, 720];

/// The new requests that count as guests'. The form rejects the requests that it counts, and none that arrives later. Its
/// times are times of requests, so that the form changes only when the requests change.
pub(super) struct OfGuestAccounts {
    /// The time of the newest one, in microseconds.
    pub(super) until: i64,
    /// For each choice, the time of the oldest rejected request in microseconds, and the text of the choice.
    pub(super) choices: Vec<(i64, Text)>,
}

impl QueuePart<'_> {
    /// The new requests that count as guests'; `None` if there are none.
    pub(super) fn of_guest_accounts(&self) -> Option<OfGuestAccounts> {
        let is_meant = |queued: &&QueuedRequest| queued.request.counts_as_guest && !queued.is_accepted();
        let meant: Vec<&QueuedRequest> = self.queue.waiting.iter().filter(is_meant).collect();
        let newest = meant.iter().map(|queued| queued.request.created_at).max()?;
        let choice = |minutes: u16| {
            let after = self.frame.now.minus(Duration::minutes(minutes.into()));
            let made = |queued: &&QueuedRequest| queued.request.created_at > after;
            let recent: Vec<&QueuedRequest> = meant.iter().copied().filter(made).collect();
            let oldest = recent.iter().map(|queued| queued.request.created_at).min()?;
            Some((oldest.unix_micros(), self.choice(minutes, &recent)))
        };
        let choices: Vec<(i64, Text)> = MINUTES.into_iter().filter_map(choice).collect();
        (!choices.is_empty()).then_some(OfGuestAccounts { until: newest.unix_micros(), choices })
    }

    /// The number of these requests, which were made within these minutes, and the sum of their fees.
    fn choice(&self, minutes: u16, recent: &[&QueuedRequest]) -> Text {
        let sum = recent.iter().fold(Money::ZERO, |sum, queued| {
            // The sum of all open fees, which is larger, was computed before.
            sum.checked_add(queued.request.fee).unwrap_or(sum)
        });
        self.frame.t.recent_requests(minutes, recent.len(), &self.frame.amount(sum))
    }
}
