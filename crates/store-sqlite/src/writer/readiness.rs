//! Whether the database accepts changes, as far as the last ones show.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use cuepoint_store_sql::limits::{PROVEN_FOR, UNREADY_FOR};

#[derive(Default)]
struct Last {
    /// The time of the last commit that wrote, if none has failed since.
    committed: Option<Instant>,
    /// The time of the last refusal of plans by the database, if it has committed none since.
    refused: Option<Instant>,
}

/// The last commit and the last refusal.
#[derive(Clone, Default)]
pub(super) struct WriterReadiness(Arc<Mutex<Last>>);

impl WriterReadiness {
    fn note(&self, note: impl FnOnce(&mut Last)) {
        note(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// New plans were committed.
    pub(super) fn applied(&self) {
        self.note(|last| *last = Last { committed: Some(Instant::now()), refused: None });
    }

    /// A commit without plans was made.
    pub(super) fn proven(&self) {
        self.note(|last| last.committed = Some(Instant::now()));
    }

    /// A group failed; `refused` if the database would refuse other plans as well.
    pub(super) fn failed(&self, refused: bool) {
        self.note(|last| {
            last.committed = None;
            if refused {
                last.refused = Some(Instant::now());
            }
        });
    }

    /// The writer has stopped: nothing is proven any longer.
    pub(super) fn forget(&self) {
        self.note(|last| last.committed = None);
    }

    /// Whether a commit proves that the next one can be made.
    pub(super) fn is_proven(&self) -> bool {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.committed.is_some_and(|at| at.elapsed() < PROVEN_FOR)
    }

    /// Whether plans were refused so recently that no proof is tried.
    pub(super) fn is_refused(&self) -> bool {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.refused.is_some_and(|at| at.elapsed() < UNREADY_FOR)
    }
}
