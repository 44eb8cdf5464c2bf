//! The ledger as a port: plans go in, receipts come out.

use async_trait::async_trait;

use crate::ledger::{Auditor, KeyRecord, KeyScope, Plan, Receipt, Rejection};
use crate::ports::Unavailable;

/// How a plan came to be applied.
#[derive(Clone, PartialEq, Debug)]
pub enum Applied {
    /// It was applied now.
    Fresh(Receipt),
    /// It, or the command with its key, was applied before; this was its answer.
    Replayed(Receipt),
}

impl Applied {
    /// What it came to.
    #[must_use]
    pub fn receipt(&self) -> &Receipt {
        match self {
            Self::Fresh(receipt) | Self::Replayed(receipt) => receipt,
        }
    }
}

/// Why a plan was not applied.
#[derive(Debug)]
pub enum ApplyError {
    /// The state does not allow it; nothing changed.
    Rejected(Rejection),
    /// The storage cannot be reached. Nothing changed, unless the answer to the commit itself was lost: then the
    /// same operation, or the same key, finds out.
    Unavailable(Unavailable),
}

impl From<Unavailable> for ApplyError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

/// Applies plans.
///
/// Plans behave as if [`crate::ledger::apply`] were called on the whole state, one plan after the other: all of a
/// plan or nothing, durable when it is answered, each operation and each kept key at most once, whoever submits it
/// how often from how many servers. A plan is carried to its end even when its caller goes away.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Applies a plan, or answers what it came to before.
    ///
    /// # Errors
    /// [`ApplyError`]; within 5 seconds in any case.
    async fn apply(&self, plan: Plan) -> Result<Applied, ApplyError>;

    /// What is known of a client's key, kept or not. The receipt of a key that is kept is whole, unless its profile was
    /// erased.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn find_key(&self, scope: &KeyScope) -> Result<Option<KeyRecord>, Unavailable>;
}

/// Shows the whole ledger to a self-check.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Audit: Send + Sync {
    /// Shows each wallet, followed by its entries by number, then each posting, then each thing once with all that
    /// is written about it: all as of one moment, so that a ledger in use is never wrongly accused. A store outside
    /// the process does so in bounded memory.
    ///
    /// A row that cannot be read is shown as [`Auditor::unreadable`], and ends it. Where [`Auditor::has_strays`] at
    /// the end, a store in which others can write shows the first entry and the first posting that came with no thing.
    ///
    /// # Errors
    /// [`Unavailable`]; the check is void then.
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable>;
}
