//! Background jobs: work that no call waits for.
//!
//! - [`Positions`]: the positions of operations;
//! - [`Retention`]: purges and erasures, which also end the `abandoned_topups` of erased users;
//! - [`GigEndings`]: the end of gigs, which releases the fees of their open requests;
//! - [`LedgerAudits`]: the audits of the ledger, and the latest result.

mod abandoned_topups;
mod gig_endings;
mod ledger_audit;
mod positions;
mod retention;

pub(super) use abandoned_topups::AbandonedTopups;
pub use gig_endings::GigEndings;
pub use ledger_audit::{CompletedAudit, LedgerAudits};
pub use positions::Positions;
pub use retention::{DeletedGuests, Retention};
