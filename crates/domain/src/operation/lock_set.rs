//! The lock set of a plan: the rows that a store must lock and read before it applies the plan.

use std::collections::BTreeSet;

use crate::ids::{ProviderMessageId, RequestId, TopupId, UserId, WithdrawalId};
use crate::music_request::RequestStatus;
use crate::operation::{Actor, Entity, Guard, Plan, Step};
use crate::timestamp::Timestamp;
use crate::topup::TopupStatus;
use crate::withdrawal::{self, Withdrawal};

/// The rows that must be locked in the book before a plan is applied.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct LockSet {
    /// Requests, by id.
    pub requests: BTreeSet<RequestId>,
    /// Users, by id.
    pub users: BTreeSet<UserId>,
    /// Whether the rows of all operators are needed; they are locked together with those users, all by id.
    pub operators: bool,
    /// Wallets, by their owner's id.
    pub wallets: BTreeSet<UserId>,
    /// Withdrawals, by id.
    pub withdrawals: BTreeSet<WithdrawalId>,
    /// Top-ups, by id.
    pub topups: BTreeSet<TopupId>,
    /// Provider messages, by id.
    pub provider_messages: BTreeSet<ProviderMessageId>,
    /// The user whose withdrawals after the given time are needed to check a window or to add up a sum.
    pub withdrawn_since: Option<(UserId, Timestamp)>,
    /// The guest and the DJ whose open requests must be counted.
    pub open_requests: Option<(UserId, UserId)>,
    /// The wallet whose adjustments after the given time are needed, with their authors.
    pub adjusted_since: Option<(UserId, Timestamp)>,
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
        for transfer in &self.transfers {
            lock_set.wallets.extend(transfer.debit.owner());
            lock_set.wallets.extend(transfer.credit.owner());
        }
        if let (Some(_), Actor::User(user)) = (&self.metadata.key, self.metadata.actor) {
            lock_set.wallets.insert(user);
        }
        lock_set.users.extend(self.operator());
        self.lock_step(&mut lock_set);
        self.lock_guards(&mut lock_set);
        lock_set
    }

    fn lock_step(&self, lock_set: &mut LockSet) {
        match &self.step {
            Step::OpenRequest(request) => {
                lock_set.wallets.insert(request.requester);
            }
            Step::OpenTopup(topup) => {
                lock_set.users.insert(topup.user);
                lock_set.wallets.insert(topup.user);
            }
            Step::Unchanged(entity) => lock_entity(entity, lock_set),
            Step::OrderTopup { before, .. } | Step::SuspendTopup { before, .. } => {
                lock_set.topups.insert(before.id);
            }
            Step::MoveTopup { before, to } => {
                lock_set.topups.insert(before.id);
                if *to == TopupStatus::Confirmed {
                    lock_set.users.insert(before.user);
                }
            }
            Step::MoveRequest { before, to } => {
                lock_set.requests.insert(before.id);
                if to.status() == RequestStatus::Played {
                    lock_set.users.insert(before.dj);
                }
            }
            Step::OpenWithdrawal { withdrawal, auto_approve_below } => {
                lock_set.wallets.insert(withdrawal.user);
                if auto_approve_below.is_some() {
                    lock_set.users.insert(withdrawal.user);
                    lock_set.read_withdrawals_near(withdrawal);
                }
            }
            Step::MoveWithdrawal { before, .. } => {
                lock_set.withdrawals.insert(before.id);
                lock_set.wallets.insert(before.user);
            }
            Step::ApproveWithdrawal { before, second_above, .. } => {
                if second_above.is_some() {
                    lock_set.read_withdrawals_near(before);
                }
                lock_set.withdrawals.insert(before.id);
                lock_set.wallets.insert(before.user);
                lock_set.users.extend(before.approvals.iter().map(|earlier| earlier.by));
                lock_set.adjusted_since = Some((before.user, self.adjustments_since()));
            }
            Step::Adjust(adjustment) => {
                lock_set.wallets.insert(adjustment.user);
            }
            Step::Profile { user, .. } | Step::ChangeAccountStatus { user, .. } => {
                lock_set.users.insert(*user);
                lock_set.wallets.insert(*user);
            }
            Step::ResolveMessage { before, .. } => {
                lock_set.provider_messages.insert(before.id);
            }
        }
    }

    fn lock_guards(&self, lock_set: &mut LockSet) {
        for guard in &self.guards {
            match (guard, &self.step) {
                (Guard::Window(window), Step::OpenWithdrawal { withdrawal, .. }) => {
                    lock_set.read_withdrawals(withdrawal.user, self.metadata.at.minus(window.length));
                }
                (Guard::OpenRequests(_), Step::OpenRequest(request)) => {
                    lock_set.open_requests = Some((request.requester, request.dj));
                }
                (
                    Guard::NoRecentAdjustment(_),
                    Step::MoveWithdrawal { before, .. }
                    | Step::ApproveWithdrawal { before, .. }
                    | Step::Unchanged(Entity::Withdrawal(before)),
                ) => {
                    lock_set.adjusted_since = Some((before.user, self.adjustments_since()));
                }
                (Guard::ActiveOperator, _) => lock_set.operators = true,
                (
                    Guard::NoDebt | Guard::Window(_) | Guard::OpenRequests(_) | Guard::NoRecentAdjustment(_),
                    _,
                ) => {}
            }
        }
    }
}

/// Adds the rows that show whether the entity is still as loaded, and the balance returned with it.
fn lock_entity(entity: &Entity, lock_set: &mut LockSet) {
    match entity {
        Entity::MusicRequest(request) => {
            lock_set.requests.insert(request.id);
        }
        Entity::Withdrawal(withdrawal) => {
            lock_set.withdrawals.insert(withdrawal.id);
            lock_set.wallets.insert(withdrawal.user);
        }
        Entity::Topup(topup) => {
            lock_set.topups.insert(topup.id);
        }
        Entity::Adjustment(adjustment) => {
            lock_set.wallets.insert(adjustment.user);
        }
        Entity::User(user) => {
            lock_set.users.insert(user.id);
            lock_set.wallets.insert(user.id);
        }
        Entity::ProviderMessage(message) => {
            lock_set.provider_messages.insert(message.id);
        }
    }
}
