//! One deadline for each request, from the moment at which its last byte was read.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::http::error::{ApiError, Code};

/// How long answering takes at most: the five seconds of the contract, less the time to write the answer.
const ANSWER_WITHIN: Duration = Duration::from_millis(4_750);
/// How much earlier the wait for something beside the command itself ends, so that there is time left to say so.
const MARGIN: Duration = Duration::from_millis(250);

/// Until when a request is answered, whatever it waits for: a call with the same key, ids, reads, a plan and its commit, a
/// provider.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Deadline(Instant);

impl Deadline {
    /// The deadline of a request whose last byte was just read.
    #[must_use]
    pub fn of_request_read_now() -> Self {
        let now = Instant::now();
        Self(now.checked_add(ANSWER_WITHIN).unwrap_or(now))
    }

    /// Until when something beside the command itself is waited for.
    #[must_use]
    pub fn of_waiting(self) -> Instant {
        self.0.checked_sub(MARGIN).unwrap_or(self.0)
    }

    /// What comes of answering a request, if it comes in time. A plan that was submitted by then is carried to its end
    /// without a caller.
    ///
    /// # Errors
    /// As the work, and [`Code::Unavailable`] past the deadline; what the request asked for may still come about.
    pub async fn bound<T>(self, work: impl Future<Output = Result<T, ApiError>>) -> Result<T, ApiError> {
        let past = || ApiError::caused(Code::Unavailable, "the deadline of the request passed");
        timeout_at(self.0, work).await.unwrap_or_else(|_| Err(past()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_request_is_answered_within_five_seconds_whatever_it_waits_for() {
        let start = Instant::now();
        let answer = Deadline::of_request_read_now().bound(std::future::pending::<Result<(), _>>()).await;
        assert_eq!(answer.unwrap_err().code, Code::Unavailable);
        assert!(start.elapsed() < Duration::from_secs(5));
    }
}
