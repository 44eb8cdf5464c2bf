//! The lock set of a group of plans.

use std::collections::BTreeSet;

use cuepoint_domain::entity_ref::EntityKind;
use cuepoint_domain::ids::{GigId, OperationId, UserId};
use cuepoint_domain::music_request::Voice;
use cuepoint_domain::operation::{CountedQueue, KeyScope, LockSet, LockedRows, Plan};
use cuepoint_domain::timestamp::Timestamp;

/// A table with rows that plans lock by id. The id of a wallet is its owner's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LockedTable {
    /// The kind of its rows.
    pub kind: EntityKind,
    pub name: &'static str,
}

impl LockedTable {
    /// Every table, in the lock order: the order of the kinds, with wallets after users. Every group locks the tables in
    /// this order and the rows of each by id, to avoid deadlocks between groups.
    pub fn in_lock_order() -> impl Iterator<Item = Self> {
        let after = |kind| if kind == EntityKind::User { Some(EntityKind::Wallet) } else { None };
        let kinds = EntityKind::all().filter(|kind| *kind != EntityKind::Wallet);
        let kinds = kinds.flat_map(move |kind| std::iter::once(kind).chain(after(kind)));
        kinds.filter_map(|kind| Some(Self { kind, name: kind.table()? }))
    }
}

/// The rows for the checks of a group of plans: rows to lock, and rows to read under the locks.
///
/// A store locks the rows of each [`LockedTable`] in the lock order, and reads the rest after the locks. A
/// store with a single writer locks nothing and reads all of it.
#[derive(Clone, Debug, Default)]
pub struct GroupLockSet {
    pub rows: LockedRows,
    /// The users with recent withdrawals to read.
    pub withdrawn_by: BTreeSet<UserId>,
    /// The earliest time of those withdrawals; `None` if none are read.
    pub withdrawn_since: Option<Timestamp>,
    /// The users with recent top-ups to read.
    pub topped_up_by: BTreeSet<UserId>,
    /// The earliest time of those top-ups; `None` if none are read.
    pub topups_since: Option<Timestamp>,
    /// The guests and DJs whose open requests are read.
    pub open_requests: BTreeSet<(UserId, UserId)>,
    /// The gigs whose requests are counted.
    pub queues: BTreeSet<GigId>,
    /// The earliest time at which they are counted; `None` if none are.
    pub queues_at: Option<Timestamp>,
    /// The voices whose newest ratings are read.
    pub newest_ratings_of: BTreeSet<Voice>,
    /// The wallets with recent adjustments to read, by owner.
    pub adjusted: BTreeSet<UserId>,
    /// The earliest time of those adjustments; `None` if none are read.
    pub adjusted_since: Option<Timestamp>,
    /// The wallets with recent income to read, by owner.
    pub income_of: BTreeSet<UserId>,
    /// The earliest time of this income; `None` if none is read.
    pub income_since: Option<Timestamp>,
    /// The DJs with open gigs to read.
    pub gigs_of: BTreeSet<UserId>,
    /// The operations of the plans, to find operations that were applied before.
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
            // Without `..`, so that no rows are lost here.
            let LockSet {
                rows,
                withdrawn_since,
                topups_since,
                open_requests,
                counted,
                newest_rating_of,
                adjusted_since,
                income_since,
                open_gig_of,
            } = plan.lock_set();
            all.rows.extend(rows);
            if let Some((user, since)) = withdrawn_since {
                all.withdrawn_by.insert(user);
                all.withdrawn_since = Some(all.withdrawn_since.map_or(since, |other| other.min(since)));
            }
            if let Some((guest, since)) = topups_since {
                all.topped_up_by.insert(guest);
                all.topups_since = Some(all.topups_since.map_or(since, |other| other.min(since)));
            }
            all.open_requests.extend(open_requests);
            if let Some(CountedQueue { gig, at }) = counted {
                all.queues.insert(gig);
                all.queues_at = Some(all.queues_at.map_or(at, |other| other.min(at)));
            }
            all.newest_ratings_of.extend(newest_rating_of);
            if let Some((wallet, since)) = adjusted_since {
                all.adjusted.insert(wallet);
                all.adjusted_since = Some(all.adjusted_since.map_or(since, |other| other.min(since)));
            }
            if let Some((wallet, since)) = income_since {
                all.income_of.insert(wallet);
                all.income_since = Some(all.income_since.map_or(since, |other| other.min(since)));
            }
            all.gigs_of.extend(open_gig_of);
            all.operations.push(plan.metadata().operation);
            all.keys.extend(plan.metadata().key.map(|key| key.scope));
        }
        all
    }
}
