//! Log lines that are written once an hour at most, however often their event happens.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long a line is not repeated.
const SILENCE: Duration = Duration::from_secs(3_600);

/// Something that is said once an hour at most.
#[derive(Debug, Default)]
pub struct Hourly(Mutex<Option<Instant>>);

impl Hourly {
    /// Whether the line is due; if so, it counts as written.
    pub fn is_due(&self) -> bool {
        let mut said = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let due = said.is_none_or(|at| at.elapsed() >= SILENCE);
        if due {
            *said = Some(Instant::now());
        }
        due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn it_is_said_once_an_hour() {
        let hourly = Hourly::default();
        assert_eq!([hourly.is_due(), hourly.is_due()], [true, false]);
        tokio::time::advance(SILENCE - Duration::from_millis(1)).await;
        assert!(!hourly.is_due());
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!([hourly.is_due(), hourly.is_due()], [true, false]);
    }
}
