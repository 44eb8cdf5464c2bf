//! The ledger port: applies plans and returns receipts, and reads the entities that plans change.

use async_trait::async_trait;

use crate::audit::Auditor;
use crate::entity_ref::EntityRef;
use crate::operation::{Entity, KeyRecord, KeyScope, Plan, Receipt, Rejection, StoredId};
use crate::ports::Unavailable;

/// The outcome of applying a plan.
#[derive(Clone, PartialEq, Debug)]
pub enum Applied {
    /// It was applied now.
    Fresh(Receipt),
    /// It, or the command with its key, was applied before; this is the original receipt.
    Replayed(Receipt),
}

impl Applied {
    /// The receipt of the plan.
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
    /// The storage cannot be reached. Nothing changed, unless the reply to the commit itself was lost: then
    /// repeating the operation, or the key, yields the outcome.
    Unavailable(Unavailable),
}

impl From<Unavailable> for ApplyError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

/// Applies plans.
///
/// Plans behave as if [`crate::operation::apply`] ran on the whole state, one plan after the other: a plan is
/// atomic, durable when its receipt is returned, and applied at most once for each operation and each key
/// within its retention, regardless of the number of submissions and servers. A submitted plan runs to its
/// end even if the caller drops the future.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Ledger: Send + Sync {
    /// Applies a plan, or returns its original receipt.
    ///
    /// # Errors
    /// [`ApplyError`]; within 5 seconds in any case.
    async fn apply(&self, plan: Plan) -> Result<Applied, ApplyError>;

    /// The record of a client's idempotency key, within its retention or past it. The receipt of a key within
    /// its retention is whole, unless its profile was erased.
    async fn find_key(&self, scope: &KeyScope) -> Result<Option<KeyRecord>, Unavailable>;

    /// The stored entity with this reference. Stores implement this method; use cases call `stored`. Other ports also
    /// read requests, withdrawals, top-ups and users, so that a store can batch these reads.
    async fn entity(&self, reference: EntityRef) -> Result<Option<Entity>, Unavailable>;
}

impl dyn Ledger {
    /// The stored entity with this id.
    ///
    /// # Errors
    /// [`Unavailable`] when the storage cannot be reached, or returns an entity of another kind.
    pub async fn stored<I: StoredId>(&self, id: I) -> Result<Option<I::Entity>, Unavailable> {
        let entity = self.entity(id.into()).await?.map(TryInto::try_into).transpose();
        entity
            .map_err(|other: Entity| Unavailable::new(format!("a {} was read instead", other.kind().title())))
    }
}

/// Shows the whole ledger to an audit.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Audit: Send + Sync {
    /// Shows each wallet, followed by its entries by number, then each posting, then each entity once with
    /// everything written about it. All rows belong to one snapshot, so that an audit of a ledger in use
    /// reports no false inconsistency. A store outside the process works in bounded memory.
    ///
    /// An unreadable row is reported as [`Auditor::unreadable`] and ends the audit. If
    /// [`Auditor::has_strays`] at the end, a store with other writers shows the first entry and the first
    /// posting without an entity.
    ///
    /// # Errors
    /// [`Unavailable`]; the audit is void then.
    async fn show(&self, auditor: &mut Auditor) -> Result<(), Unavailable>;
}
