//! The self-check of the ledger that runs in the background, and what the last one came to.

use cuepoint_domain::ledger::{Auditor, Finding, Summary};
use cuepoint_domain::ports::{Clock, Store};
use cuepoint_domain::timestamp::Timestamp;
use tokio::sync::watch;

/// The measurement that is 1 while the last self-check found nothing, 0 once it found something.
const CONSISTENT: &str = "cuepoint_ledger_consistent";

/// A self-check that came to its end.
#[derive(Clone, Debug)]
pub struct Checked {
    /// When it began; it shows the ledger as of then.
    pub started_at: Timestamp,
    /// When it ended.
    pub finished_at: Timestamp,
    /// What it saw.
    pub seen: Summary,
    /// The first thing that is wrong, if anything is.
    pub finding: Option<Finding>,
}

/// The last self-check of this process.
#[derive(Debug)]
pub struct SelfCheck(watch::Sender<Option<Checked>>);

impl Default for SelfCheck {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl SelfCheck {
    /// What the last one that came to its end found; `None` before the first.
    #[must_use]
    pub fn last(&self) -> Option<Checked> {
        self.0.borrow().clone()
    }

    /// Checks the whole ledger once. One that cannot be read to its end leaves the last answer as it is.
    pub async fn run(&self, store: &dyn Store, clock: &dyn Clock) {
        let started_at = clock.now();
        let mut auditor = Auditor::new();
        if let Err(unavailable) = store.show(&mut auditor).await {
            tracing::warn!(%unavailable, "the ledger could not be checked");
            return;
        }
        let seen = auditor.seen();
        let finding = auditor.finish().err();
        match &finding {
            None => tracing::info!(?seen, "the ledger is consistent"),
            Some(finding) => tracing::error!(%finding, "the ledger is broken"),
        }
        metrics::gauge!(CONSISTENT).set(if finding.is_none() { 1.0 } else { 0.0 });
        self.0.send_replace(Some(Checked { started_at, finished_at: clock.now(), seen, finding }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cuepoint_store_memory::MemoryStore;

    #[tokio::test]
    async fn there_is_an_answer_once_a_check_came_to_its_end() {
        let check = SelfCheck::default();
        assert!(check.last().is_none());
        check.run(&MemoryStore::new(), &crate::adapters::clock::SystemClock).await;
        let last = check.last().unwrap();
        assert_eq!((last.seen, last.finding), (Summary::default(), None));
        assert!(last.started_at <= last.finished_at);
    }
}
