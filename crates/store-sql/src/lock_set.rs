//! The lock set of a group of plans.

use std::collections::BTreeSet;

use cuepoint_domain::ids::{OperationId, UserId};
use cuepoint_domain::operation::{KeyScope, LockSet, Plan};
use cuepoint_domain::timestamp::Timestamp;
use strum::{EnumIter, IntoEnumIterator, IntoStaticStr};

/// A table with rows that plans lock.
///
/// The order of the variants is the lock order: every group locks the tables in this order and the rows of
/// each by id, to avoid deadlocks between groups.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, EnumIter, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum LockedTable {
    /// Music requests.
    MusicRequests,
    /// Users.
    Users,
    /// Wallets, by the ids of their owners.
    Wallets,
    /// Withdrawals.
    Withdrawals,
    /// Top-ups.
    Topups,
    /// Provider messages.
    ProviderMessages,
}

impl LockedTable {
    /// Every table, in the lock order.
    pub fn in_lock_order() -> impl Iterator<Item = Self> {
        Self::iter()
    }

    /// The name of the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The rows that a group of plans is judged on: those to lock, and those to read under the locks.
///
/// A store locks the rows of each [`LockedTable`] in the lock order, and reads the rest after the locks. A
/// store with a single writer locks nothing and reads all of it.
#[derive(Clone, Debug, Default)]
pub struct GroupLockSet {
    /// The rows to lock; the fields of single plans (`withdrawn_since` and those after it) are not used.
    pub rows: LockSet,
    /// The users with recent withdrawals to read.
    pub withdrawn_by: BTreeSet<UserId>,
    /// The earliest time of those withdrawals; `None` if none are read.
    pub withdrawn_since: Option<Timestamp>,
    /// The guests with open requests to read.
    pub guests: BTreeSet<UserId>,
    /// The DJs of those requests; every guest is read with every DJ.
    pub djs: BTreeSet<UserId>,
    /// The wallets with recent adjustments to read, by owner.
    pub adjusted: BTreeSet<UserId>,
    /// The earliest time of those adjustments; `None` if none are read.
    pub adjusted_since: Option<Timestamp>,
    /// The operations of the plans, to find those that were applied before.
    pub operations: Vec<OperationId>,
    /// The scopes of the plans' idempotency keys.
    pub keys: Vec<KeyScope>,
}

impl GroupLockSet {
    /// Computes the lock set of these plans.
    #[must_use]
    pub fn of<'a>(plans: impl IntoIterator<Item = &'a Plan>) -> Self {
        let mut all = Self::default();
        for plan in plans {
            // Without `..`, so that the rows of a new entity are not lost here.
            let LockSet {
                requests,
                users,
                operators,
                wallets,
                withdrawals,
                topups,
                provider_messages,
                withdrawn_since,
                open_requests,
                adjusted_since,
            } = plan.lock_set();
            all.rows.requests.extend(requests);
            all.rows.users.extend(users);
            all.rows.operators |= operators;
            all.rows.wallets.extend(wallets);
            all.rows.withdrawals.extend(withdrawals);
            all.rows.topups.extend(topups);
            all.rows.provider_messages.extend(provider_messages);
            if let Some((user, since)) = withdrawn_since {
                all.withdrawn_by.insert(user);
                all.withdrawn_since = Some(all.withdrawn_since.map_or(since, |other| other.min(since)));
            }
            if let Some((guest, dj)) = open_requests {
                all.guests.insert(guest);
                all.djs.insert(dj);
            }
            if let Some((wallet, since)) = adjusted_since {
                all.adjusted.insert(wallet);
                all.adjusted_since = Some(all.adjusted_since.map_or(since, |other| other.min(since)));
            }
            all.operations.push(plan.metadata().operation);
            all.keys.extend(plan.metadata().key.map(|key| key.scope));
        }
        all
    }
}
