//! The lock set of a plan: the rows that a store must lock and read before it applies the plan.

use std::collections::BTreeSet;

use crate::ids::{ProviderMessageId, RequestId, TopupId, UserId, WithdrawalId};
use crate::ledger::{Actor, Entity, Guard, Plan, Step};
use crate::music_request::RequestStatus;
use crate::timestamp::Timestamp;
use crate::topup::TopupStatus;

/// The rows that must be locked in the book before a plan is applied.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Names {
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
    /// The user whose withdrawals after the given time are needed to check a window.
    pub withdrawn_since: Option<(UserId, Timestamp)>,
    /// The guest and the DJ whose open requests must be counted.
    pub open_requests: Option<(UserId, UserId)>,
    /// The wallet whose adjustments after the given time are needed, with their authors.
    pub adjusted_since: Option<(UserId, Timestamp)>,
}

impl Plan {
    /// The lock set of the plan.
    #[must_use]
    pub fn names(&self) -> Names {
        let mut names = Names::default();
        for transfer in &self.transfers {
            names.wallets.extend(transfer.debit.owner());
            names.wallets.extend(transfer.credit.owner());
        }
        if let (Some(_), Actor::User(user)) = (&self.metadata.key, self.metadata.actor) {
            names.wallets.insert(user);
        }
        names.users.extend(self.operator());
        self.name_step(&mut names);
        self.name_guards(&mut names);
        names
    }

    fn name_step(&self, names: &mut Names) {
        match &self.step {
            Step::OpenRequest(request) => {
                names.wallets.insert(request.requester);
            }
            Step::OpenTopup(topup) => {
                names.users.insert(topup.user);
                names.wallets.insert(topup.user);
            }
            Step::Unchanged(entity) => name_entity(entity, names),
            Step::OrderTopup { before, .. } | Step::SuspendTopup { before, .. } => {
                names.topups.insert(before.id);
            }
            Step::MoveTopup { before, to } => {
                names.topups.insert(before.id);
                if *to == TopupStatus::Confirmed {
                    names.users.insert(before.user);
                }
            }
            Step::MoveRequest { before, to } => {
                names.requests.insert(before.id);
                if to.status() == RequestStatus::Played {
                    names.users.insert(before.dj);
                }
            }
            Step::OpenWithdrawal(withdrawal) => {
                names.wallets.insert(withdrawal.user);
            }
            Step::MoveWithdrawal { before, .. } => {
                names.withdrawals.insert(before.id);
                names.wallets.insert(before.user);
            }
            Step::ApproveWithdrawal { before, .. } => {
                names.withdrawals.insert(before.id);
                names.wallets.insert(before.user);
                names.users.extend(before.approvals.iter().map(|earlier| earlier.by));
                names.adjusted_since = Some((before.user, self.adjustments_since()));
            }
            Step::Adjust(adjustment) => {
                names.wallets.insert(adjustment.user);
            }
            Step::Profile { user, .. } | Step::Standing { user, .. } => {
                names.users.insert(*user);
                names.wallets.insert(*user);
            }
            Step::ResolveMessage { before, .. } => {
                names.provider_messages.insert(before.id);
            }
        }
    }

    fn name_guards(&self, names: &mut Names) {
        for guard in &self.guards {
            match (guard, &self.step) {
                (Guard::Window(window), Step::OpenWithdrawal(withdrawal)) => {
                    let since = self.metadata.at.minus(window.length);
                    let earliest = names.withdrawn_since.map_or(since, |(_, other)| other.min(since));
                    names.withdrawn_since = Some((withdrawal.user, earliest));
                }
                (Guard::OpenRequests(_), Step::OpenRequest(request)) => {
                    names.open_requests = Some((request.requester, request.dj));
                }
                (
                    Guard::NoRecentAdjustment(_),
                    Step::MoveWithdrawal { before, .. }
                    | Step::ApproveWithdrawal { before, .. }
                    | Step::Unchanged(Entity::Withdrawal(before)),
                ) => {
                    names.adjusted_since = Some((before.user, self.adjustments_since()));
                }
                (Guard::ActiveOperator, _) => names.operators = true,
                (Guard::Window(_) | Guard::OpenRequests(_) | Guard::NoRecentAdjustment(_), _) => {}
            }
        }
    }
}

/// Adds the rows that show whether the entity is still as loaded, and the balance returned with it.
fn name_entity(entity: &Entity, names: &mut Names) {
    match entity {
        Entity::MusicRequest(request) => {
            names.requests.insert(request.id);
        }
        Entity::Withdrawal(withdrawal) => {
            names.withdrawals.insert(withdrawal.id);
            names.wallets.insert(withdrawal.user);
        }
        Entity::Topup(topup) => {
            names.topups.insert(topup.id);
        }
        Entity::Adjustment(adjustment) => {
            names.wallets.insert(adjustment.user);
        }
        Entity::User(user) => {
            names.users.insert(user.id);
            names.wallets.insert(user.id);
        }
        Entity::ProviderMessage(message) => {
            names.provider_messages.insert(message.id);
        }
    }
}
