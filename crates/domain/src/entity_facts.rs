//! The properties that all kinds of entities have in common.

use crate::ids::{OperationId, UserId};
use crate::ledger::Transfer;
use crate::ledger::adjustment::Adjustment;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// The properties of an entity that plans, receipts and the ledger audit need.
///
/// A default holds for an entity without money of its own. A method without a default must be answered for each
/// entity.
pub trait EntityFacts {
    /// The owner of the wallet that its operations change; for a user, that user. `None` without a wallet.
    fn owner(&self) -> Option<UserId>;

    /// Another involved user: the DJ of a request, a tip or a gig.
    fn dj(&self) -> Option<UserId> {
        None
    }

    /// Whether the answer to its commands shows the owner's balance.
    fn shows_balance(&self) -> bool;

    /// Whether its id is new. A rating has the number of its request. Two plans may open it at once, and the second one
    /// is stale.
    fn takes_new_id(&self) -> bool {
        true
    }

    /// Whether it can be changed: an erased user cannot.
    fn is_present(&self) -> bool {
        true
    }

    /// Whether it is still as loaded. The comparison includes each field that can change while the others stay, because
    /// a move replaces the stored entity by one that was decided on `loaded`.
    fn stands_as(&self, loaded: &Self) -> bool
    where
        Self: Sized;

    /// The entity as it is shown at this time.
    #[must_use]
    fn seen_at(self, _at: Timestamp) -> Self
    where
        Self: Sized,
    {
        self
    }

    /// Its transition to `after`, for the security log.
    fn transition(&self, _after: &Self) -> String
    where
        Self: Sized,
    {
        "nothing".to_owned()
    }

    /// The name of its status, if a newer version set it.
    fn unknown_status(&self) -> Option<UnknownName> {
        None
    }

    /// The transfers of each operation that led to its current state; `None` if its amounts contradict each other.
    fn history(&self) -> Option<Vec<Vec<Transfer>>> {
        Some(Vec::new())
    }

    /// The operations that moved its money outside all wallets, in order: if there are any, no other operation moved
    /// its money.
    fn operations_without_entries(&self) -> Vec<OperationId> {
        Vec::new()
    }

    /// Whether only an operation that moved money can have led to its state, so that the last one recorded the
    /// complete state.
    fn is_where_its_money_is(&self) -> bool {
        true
    }

    /// Whether this operation opened it; `place` counts the operations that moved its money before.
    fn is_opening(&self, _operation: OperationId, _place: usize) -> bool {
        false
    }

    /// Whether an operation that moved its money recorded the entity as it is, ignoring its state unless `whole`. It is
    /// not called for an entity without a history;
    /// `opens` marks the operation that opened the entity.
    fn is_recorded_as(&self, then: &Self, whole: bool, opens: bool) -> bool
    where
        Self: Sized;
}

impl EntityFacts for Adjustment {
    fn owner(&self) -> Option<UserId> {
        Some(self.user)
    }

    fn shows_balance(&self) -> bool {
        true
    }

    fn stands_as(&self, loaded: &Self) -> bool {
        self == loaded
    }

    fn history(&self) -> Option<Vec<Vec<Transfer>>> {
        Some(vec![vec![self.transfer()]])
    }

    fn is_recorded_as(&self, then: &Self, _whole: bool, _opens: bool) -> bool {
        self == then
    }
}

/// Whether an operation recorded the same value as the row has in a column that earlier versions lack.
///
/// Only the operation that opened the row must have recorded it: a server of an earlier version records none
/// when it moves a row opened by a newer server.
pub(crate) fn is_column_recorded<T: PartialEq>(now: Option<T>, then: Option<T>, opens: bool) -> bool {
    now == then || (then.is_none() && !opens)
}

/// The description of a transition in the security log.
pub(crate) fn described(object: &str, id: i64, from: &str, to: &str) -> String {
    format!("{object} {id} {from} → {to}")
}
