//! The new requests of guest accounts, which one form rejects.

use cuepoint_domain::application::queries::QueuedRequest;
use cuepoint_domain::money::Money;
use cuepoint_domain::timestamp::Timestamp;
use time::Duration;

use super::QueuePart;
use crate::texts::Text;

/// The times before now that the form offers, in minutes.
const MINUTES: [u16; 4] = [5, 15, 60, 720];

/// The new requests of guest accounts: the form rejects those that it counts, and none that arrives later.
pub(super) struct OfGuestAccounts {
    /// The time of the newest one, in microseconds.
    pub(super) until: i64,
    /// The times after which requests were made, in microseconds, with what is rejected.
    pub(super) choices: Vec<(i64, Text)>,
}

impl QueuePart<'_> {
    /// The new requests of guest accounts; `None` if there are none.
    pub(super) fn of_guest_accounts(&self) -> Option<OfGuestAccounts> {
        let is_meant = |queued: &&QueuedRequest| queued.is_of_guest_account && !queued.is_accepted();
        let meant: Vec<&QueuedRequest> = self.queue.waiting.iter().filter(is_meant).collect();
        let newest = meant.iter().map(|queued| queued.request.created_at).max()?;
        let choice = |minutes: u16| {
            let after = self.frame.now.minus(Duration::minutes(minutes.into()));
            Some((after.unix_micros(), self.choice(minutes, &meant, after)?))
        };
        let choices: Vec<(i64, Text)> = MINUTES.into_iter().filter_map(choice).collect();
        (!choices.is_empty()).then_some(OfGuestAccounts { until: newest.unix_micros(), choices })
    }

    /// The requests that were made after a time, with their number and the sum of their fees; `None` without any.
    fn choice(&self, minutes: u16, meant: &[&QueuedRequest], after: Timestamp) -> Option<Text> {
        let fees =
            meant.iter().filter(|queued| queued.request.created_at > after).map(|queued| queued.request.fee);
        let (mut count, mut sum) = (0_usize, Money::ZERO);
        for fee in fees {
            // The sum of all open fees, which is larger, was computed before.
            (count, sum) = (count.saturating_add(1), sum.checked_add(fee).unwrap_or(sum));
        }
        (count > 0).then(|| self.frame.t.recent_requests(minutes, count, &self.frame.amount(sum)))
    }
}
