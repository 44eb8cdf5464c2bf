//! The age of the plans that a connection keeps of its prepared statements.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The age of a connection at which it discards its plans for the first time.
const FIRST: Duration = Duration::from_secs(1);
/// The maximum age of a plan in use.
const MAX_AGE: Duration = Duration::from_secs(60);

/// Discards the plans of a connection: PostgreSQL makes each anew when its statement is used.
pub(crate) const DISCARD: &str = "DISCARD PLANS";

/// When the plans of a connection are discarded next.
///
/// A plan is made for the tables as they are then, and PostgreSQL keeps it until it analyzes them. A server that starts
/// on an empty database would keep the plans for empty tables while they grow. So plans are discarded at twice the age
/// of the last time, and at least once a minute.
#[derive(Debug)]
pub(crate) struct KeptPlans {
    /// The age of the connection from which they are due, in milliseconds.
    due_from: AtomicU64,
}

impl KeptPlans {
    pub(crate) fn new() -> Self {
        Self { due_from: AtomicU64::new(milliseconds(FIRST)) }
    }

    /// Whether the plans of a connection of this age are to be discarded now; the caller discards them.
    pub(crate) fn are_due(&self, age: Duration) -> bool {
        let age = milliseconds(age);
        if age < self.due_from.load(Ordering::Relaxed) {
            return false;
        }
        let next = age.saturating_add(age.min(milliseconds(MAX_AGE)));
        self.due_from.store(next, Ordering::Relaxed);
        true
    }
}

fn milliseconds(age: Duration) -> u64 {
    u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_due_from_doubling_ages_and_then_every_minute() {
        let plans = KeptPlans::new();
        let due: Vec<u64> = (0..300).filter(|age| plans.are_due(Duration::from_secs(*age))).collect();
        assert_eq!(due, [1, 2, 4, 8, 16, 32, 64, 124, 184, 244]);
    }
}
