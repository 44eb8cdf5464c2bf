//! Adapters of the Tokio runtime: monotonic time and spawned tasks.

use async_trait::async_trait;
use cuepoint_domain::ports::{Deadline, Task, TaskSpawner, Timer};
use time::Duration;
use tokio::time::Instant;

use crate::observability::logged_request::in_current_request;

/// A timer that measures monotonic time since its creation.
#[derive(Clone, Copy, Debug)]
pub struct TokioTimer {
    origin: Instant,
}

impl Default for TokioTimer {
    fn default() -> Self {
        Self { origin: Instant::now() }
    }
}

impl TokioTimer {
    /// Returns the deadline at an instant.
    #[must_use]
    pub fn deadline(&self, instant: Instant) -> Deadline {
        let since = instant.saturating_duration_since(self.origin);
        Deadline(Duration::try_from(since).unwrap_or(Duration::MAX))
    }

    /// Returns the instant of a deadline; for one before the creation, that of the creation.
    #[must_use]
    pub fn instant(&self, Deadline(since): Deadline) -> Instant {
        let since = since.try_into().unwrap_or_default();
        self.origin.checked_add(since).unwrap_or(self.origin)
    }
}

#[async_trait]
impl Timer for TokioTimer {
    async fn sleep_until(&self, deadline: Deadline) {
        tokio::time::sleep_until(self.instant(deadline)).await;
    }
}

/// Spawns tasks on the runtime, whose log lines name the request that started them.
#[derive(Clone, Copy, Debug)]
pub struct TokioTasks;

impl TaskSpawner for TokioTasks {
    fn spawn(&self, task: Task) {
        drop(tokio::spawn(in_current_request(task)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_instant_survives_the_conversion_to_a_deadline_and_back() {
        let timer = TokioTimer::default();
        let later = Instant::now() + std::time::Duration::from_millis(1_500);
        assert_eq!(timer.instant(timer.deadline(later)), later);
        timer.sleep_until(timer.deadline(later)).await;
        assert_eq!(Instant::now(), later);
    }
}
