//! One deadline per request, measured from the arrival of its last byte.

use std::time::Duration;

use thiserror::Error;
use tokio::time::{Instant, timeout_at};

use cuepoint_adapters::signed_messages::CALL_WITHIN;
use cuepoint_adapters::topups::LEASE;

/// The maximum time to answer: the five seconds of the contract, less the time to write the answer.
const ANSWER_WITHIN: Duration = Duration::from_millis(4_750);
// The lease of a top-up begins when it is opened: the commit may use up the whole deadline before the call to
// the provider begins.
const _: () = assert!(LEASE.as_millis() > ANSWER_WITHIN.as_millis() + CALL_WITHIN.as_millis());

/// The margin by which waits other than the command itself end before the deadline, so that the answer can
/// name their cause.
const MARGIN: Duration = Duration::from_millis(250);

/// The deadline of a request passed before its answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the deadline of the request passed")]
pub struct DeadlinePassed;

/// The deadline of a request. It bounds every wait: for a call with the same key, for ids, reads, a plan and
/// its commit, and for a provider.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RequestDeadline(Instant);

impl RequestDeadline {
    /// The deadline of a request whose last byte has just arrived.
    #[must_use]
    pub fn of_request_read_now() -> Self {
        let now = Instant::now();
        Self(now.checked_add(ANSWER_WITHIN).unwrap_or(now))
    }

    /// The end of waits other than the command itself, such as for a call with the same key.
    #[must_use]
    pub fn for_waits(self) -> Instant {
        self.0.checked_sub(MARGIN).unwrap_or(self.0)
    }

    /// The result of the work, if it completes before the deadline. A plan submitted before the deadline is
    /// still applied.
    ///
    /// # Errors
    /// The errors of the work, and [`DeadlinePassed`] after the deadline; the request may still take effect.
    pub async fn bound<T, E: From<DeadlinePassed>>(
        self,
        work: impl Future<Output = Result<T, E>>,
    ) -> Result<T, E> {
        timeout_at(self.0, work).await.unwrap_or_else(|_| Err(DeadlinePassed.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn endless_work_is_abandoned_within_five_seconds() {
        let start = Instant::now();
        let answer =
            RequestDeadline::of_request_read_now().bound(std::future::pending::<Result<(), _>>()).await;
        assert_eq!(answer, Err(DeadlinePassed));
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
