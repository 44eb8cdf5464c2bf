//! The lock set of a plan: the rows that a store must lock and read before it applies the plan.

use std::collections::BTreeSet;

use crate::entity_ref::{EntityKind, EntityRef};
use crate::ids::{GigId, UserId};
use crate::music_request::Voice;
use crate::operation::{Actor, Displacement, Entity, Guard, Plan, Step, Tally, WithdrawalJudgement};
use crate::timestamp::Timestamp;
use crate::topup::GuestTopupLimits;
use crate::withdrawal::{self, Withdrawal};

/// Rows to lock.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LockedRows {
    /// The rows of entities, in the lock order.
    pub entities: BTreeSet<EntityRef>,
    /// Whether the rows of all operators are needed; they are locked together with the named users, all by id.
    pub operators: bool,
    /// Wallets, by their owner's id.
    pub wallets: BTreeSet<UserId>,
    /// The DJs whose last gigs are needed: the last one that has ended, and an open one, because it can end.
    pub last_gigs_of: BTreeSet<UserId>,
}

impl LockedRows {
    /// The ids of the rows of one kind, in order.
    pub fn ids(&self, kind: EntityKind) -> impl Iterator<Item = i64> {
        let of_kind = self.entities.iter().filter(move |reference| reference.kind() == Ok(kind));
        of_kind.map(|reference| reference.id())
    }

    /// Adds other rows.
    pub fn extend(&mut self, other: Self) {
        let Self { entities, operators, wallets, last_gigs_of } = other;
        self.entities.extend(entities);
        self.operators |= operators;
        self.wallets.extend(wallets);
        self.last_gigs_of.extend(last_gigs_of);
    }

    /// Adds an entity, and the balance that is shown with it.
    fn add(&mut self, entity: &Entity) {
        self.entities.insert(entity.reference());
        if entity.facts().shows_balance() {
            self.wallets.extend(entity.owner());
        }
    }

    fn add_user(&mut self, user: UserId) {
        self.entities.insert(EntityRef::User(user));
    }
}

/// The rows that must be in the book before a plan is applied: those to lock, and those to read under the locks.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LockSet {
    pub rows: LockedRows,
    /// The user whose withdrawals after the given time are needed to check a window or to add up a sum.
    pub withdrawn_since: Option<(UserId, Timestamp)>,
    /// The user whose pending top-ups, and those that changed since the given time, are needed.
    pub topups_since: Option<(UserId, Timestamp)>,
    /// The guest and the DJ whose open requests must be counted.
    pub open_requests: Option<(UserId, UserId)>,
    /// The queue with requests to count, after its gig is locked.
    pub counted: Option<CountedQueue>,
    /// The voice whose newest rating is needed.
    pub newest_rating_of: Option<Voice>,
    /// The wallet whose adjustments after the given time are needed, with their authors.
    pub adjusted_since: Option<(UserId, Timestamp)>,
    /// The wallet whose income after the given time is needed.
    pub income_since: Option<(UserId, Timestamp)>,
    /// The DJ whose open gig is needed.
    pub open_gig_of: Option<UserId>,
}

/// The queue of a gig whose size a plan needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CountedQueue {
    pub gig: GigId,
    /// The time; requests whose deadline has passed do not count as open.
    pub at: Timestamp,
}

impl LockSet {
    /// Adds the withdrawals of this user after the given time.
    fn read_withdrawals(&mut self, of: UserId, since: Timestamp) {
        let earliest = self.withdrawn_since.map_or(since, |(_, other)| other.min(since));
        self.withdrawn_since = Some((of, earliest));
    }

    /// Adds the withdrawals that are added up with this one.
    fn read_withdrawals_near(&mut self, withdrawal: &Withdrawal) {
        self.read_withdrawals(withdrawal.user, withdrawal.created_at.minus(withdrawal::SUM_WITHIN));
    }
}

impl Plan {
    /// The lock set of the plan.
    #[must_use]
    pub fn lock_set(&self) -> LockSet {
        let mut lock_set = LockSet::default();
        let LockSet { rows, .. } = &mut lock_set;
        for transfer in &self.transfers {
            rows.wallets.extend(transfer.debit.owner());
            rows.wallets.extend(transfer.credit.owner());
        }
        if let (Some(_), Actor::User(user)) = (&self.metadata.key, self.metadata.actor) {
            rows.wallets.insert(user);
        }
        if let Some(operator) = self.operator() {
            rows.add_user(operator);
        }
        if let Some(tally) = self.tally {
            rows.add_user(tally.user());
        }
        if let Some(Displacement { among, .. }) = &self.displacement {
            rows.entities.extend(among.iter().map(|request| EntityRef::from(request.id)));
        }
        lock_set.newest_rating_of = self.tally.and_then(Tally::voice);
        self.lock_step(&mut lock_set);
        for guard in &self.guards {
            self.lock_guard(*guard, &mut lock_set);
        }
        lock_set
    }

    /// The queue whose size the plan needs.
    #[must_use]
    pub fn counted_queue(&self) -> Option<CountedQueue> {
        self.guards.iter().find_map(|guard| {
            let Guard::QueueRoom { gig, .. } = *guard else { return None };
            Some(CountedQueue { gig, at: self.metadata.at })
        })
    }

    fn lock_step(&self, lock_set: &mut LockSet) {
        let rows = &mut lock_set.rows;
        match &*self.step {
            Step::Unchanged(entity) | Step::Move { before: entity, .. } => rows.add(entity),
            Step::Open(entity) => {
                if !entity.facts().takes_new_id() {
                    rows.add(entity);
                }
                rows.wallets.extend(entity.owner());
            }
            Step::Judge(WithdrawalJudgement::Open { withdrawal, .. }) => {
                rows.wallets.insert(withdrawal.user);
                rows.add_user(withdrawal.user);
                lock_set.read_withdrawals_near(withdrawal);
            }
            Step::Judge(WithdrawalJudgement::Approve { before, second_above, .. }) => {
                rows.entities.insert(EntityRef::Withdrawal(before.id));
                rows.wallets.insert(before.user);
                before.approvals.iter().for_each(|earlier| rows.add_user(earlier.by));
                lock_set.adjusted_since = Some((before.user, self.adjustments_since()));
                if second_above.is_some() {
                    lock_set.read_withdrawals_near(before);
                }
            }
            Step::ChangeUser { user, .. } => {
                rows.add_user(*user);
                rows.wallets.insert(*user);
            }
        }
    }

    fn lock_guard(&self, guard: Guard, lock_set: &mut LockSet) {
        match guard {
            Guard::Present(user) | Guard::Active(user) | Guard::VerifiedEmail(user) => {
                lock_set.rows.add_user(user);
            }
            Guard::NoDebt(of) => {
                lock_set.rows.wallets.insert(of);
            }
            Guard::Window { of, window, .. } => {
                lock_set.read_withdrawals(of, self.metadata.at.minus(window.length));
            }
            Guard::Cleared { of, time, .. } => {
                lock_set.rows.wallets.insert(of);
                lock_set.income_since = Some((of, self.metadata.at.minus(time)));
            }
            Guard::GuestTopup { of, .. } => {
                lock_set.rows.wallets.insert(of);
                lock_set.topups_since = Some((of, GuestTopupLimits::since(self.metadata.at)));
            }
            Guard::OpenRequests { guest, dj, .. } => lock_set.open_requests = Some((guest, dj)),
            Guard::QueueRoom { gig, .. } => {
                lock_set.rows.entities.insert(EntityRef::Gig(gig));
                lock_set.counted = self.counted_queue();
            }
            Guard::NoRecentAdjustment { of, .. } => {
                lock_set.adjusted_since = Some((of, self.adjustments_since()));
            }
            Guard::ActiveOperator => lock_set.rows.operators = true,
            Guard::NotEnded { gig, .. } => {
                lock_set.rows.entities.insert(EntityRef::Gig(gig));
            }
            Guard::NoGigEndedSince { dj, .. } => {
                lock_set.rows.last_gigs_of.insert(dj);
            }
            Guard::NoOpenGig(dj) => lock_set.open_gig_of = Some(dj),
        }
    }
}
