//! Limits and deadlines of a writer, which are the same in every SQL store: the server's own deadlines and
//! readiness probes are measured against them.

use std::time::Duration;

/// The maximum number of plans per transaction.
pub const GROUP: usize = 64;
/// The maximum number of waiting plans; further callers wait for a place in the queue.
pub const QUEUE: usize = 1_024;
/// The maximum wait of a plan for a place in the queue and for its transaction; then it is not applied.
pub const WAIT: Duration = Duration::from_millis(2_000);
/// Deadline of the reply to a plan, from its submission.
pub const ANSWER: Duration = Duration::from_millis(4_500);
/// Time for which a commit proves that the next one can be made.
pub const PROVEN_FOR: Duration = Duration::from_secs(1);
/// Time limit of the proof that plans can be committed: readiness probes wait for less than two seconds.
pub const PROOF_WITHIN: Duration = Duration::from_millis(1_700);
/// How long the writer is unready after the database refused plans, unless one is committed meanwhile. After
/// that the probe tries again, because an unready server gets no plans that could show a recovery.
pub const UNREADY_FOR: Duration = Duration::from_secs(5);
