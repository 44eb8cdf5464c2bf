//! Background jobs: work that no call waits for.
//!
//! - [`Positions`]: the positions of operations;
//! - [`Retention`]: purges and erasures, which also end the `abandoned_topups` of erased users;
//! - [`LedgerAudits`]: the audits of the ledger, and the latest result.

mod abandoned_topups;
mod ledger_audit;
mod positions;
mod retention;

pub(super) use abandoned_topups::AbandonedTopups;
pub use ledger_audit::{CompletedAudit, LedgerAudits};
pub use positions::Positions;
pub use retention::Retention;
