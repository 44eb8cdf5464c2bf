//! Throttling of log lines to one per hour.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// The minimum time between two lines.
const SILENCE: Duration = Duration::from_secs(3_600);

/// The throttle of one log line.
#[derive(Debug, Default)]
pub struct LogThrottle(Mutex<Option<Instant>>);

impl LogThrottle {
    /// Returns whether the line is due and, if so, marks it as written.
    pub fn is_due(&self) -> bool {
        let mut last_written = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = last_written.is_none_or(|at| at.elapsed() >= SILENCE);
        if due {
            *last_written = Some(Instant::now());
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_throttled_line_is_logged_at_most_once_an_hour() {
        let log_throttle = LogThrottle::default();
        assert_eq!([log_throttle.is_due(), log_throttle.is_due()], [true, false]);
        tokio::time::advance(SILENCE - Duration::from_millis(1)).await;
        assert!(!log_throttle.is_due());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!([log_throttle.is_due(), log_throttle.is_due()], [true, false]);
    }
}
