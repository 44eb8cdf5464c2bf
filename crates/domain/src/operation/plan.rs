//! A plan: one atomic change, decided by a rule and applied by a store.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::entity_ref::EntityRef;
use crate::ids::UserId;
use crate::ledger::adjustment::Adjustment;
use crate::ledger::{PostingRules, Transfer};
use crate::money::Amount;
use crate::music_request::{MusicRequest, RequestState};
use crate::names::named_enum;
use crate::operation::{Actor, Entity, OperationMetadata};
use crate::provider_message::{ProviderMessage, Resolution};
use crate::text::PaymentUrl;
use crate::timestamp::Timestamp;
use crate::topup::{Orders, Suspense, Topup, TopupStatus};
use crate::user::{AccountStatusChange, ProfileChange};
use crate::withdrawal::{Window, Withdrawal, WithdrawalState};

/// The effect of a plan beside moving money.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// No effect: the entity already has the requested state, and must still be as loaded.
    Unchanged(Entity),
    /// Opens a request.
    OpenRequest(MusicRequest),
    /// Moves a request to another state.
    MoveRequest {
        /// The expected request.
        before: MusicRequest,
        /// The next state.
        to: RequestState,
    },
    /// Opens a withdrawal, which is then pending or approved.
    OpenWithdrawal {
        /// The withdrawal, pending.
        withdrawal: Withdrawal,
        /// The sum of its owner's recent withdrawals below which it needs no operator.
        auto_approve_below: Option<Amount>,
    },
    /// Moves a withdrawal to another state.
    MoveWithdrawal {
        /// The expected withdrawal.
        before: Withdrawal,
        /// The next state.
        to: WithdrawalState,
    },
    /// Adds an operator's approval to a pending withdrawal, which is then approved or still pending.
    ApproveWithdrawal {
        /// The expected withdrawal, approvals included.
        before: Withdrawal,
        /// The approving operator.
        by: UserId,
        /// The sum of its owner's recent withdrawals above which two operators must approve.
        second_above: Option<Amount>,
    },
    /// Opens a top-up.
    OpenTopup(Topup),
    /// Orders a pending top-up at its provider, or records the result of an order.
    OrderTopup {
        /// The expected top-up.
        before: Topup,
        /// The new order state.
        orders: Orders,
        /// The page on which the guest pays, if the provider named one.
        page: Option<PaymentUrl>,
    },
    /// Ends a pending top-up, or reverses a confirmed one.
    MoveTopup {
        /// The expected top-up.
        before: Topup,
        /// The next status.
        to: TopupStatus,
    },
    /// Moves the money of a top-up into or out of suspense; a pending top-up fails.
    SuspendTopup {
        /// The expected top-up.
        before: Topup,
        /// The new suspense record.
        suspense: Suspense,
    },
    /// Corrects a balance.
    Adjust(Adjustment),
    /// Changes a user's profile.
    Profile {
        /// The user.
        user: UserId,
        /// The change.
        change: Box<ProfileChange>,
    },
    /// Changes a user's account status or role.
    ChangeAccountStatus {
        /// The user.
        user: UserId,
        /// The change.
        change: AccountStatusChange,
    },
    /// Resolves a provider message.
    ResolveMessage {
        /// The expected message.
        before: Box<ProviderMessage>,
        /// The resolution.
        resolution: Resolution,
    },
}

/// The kind of a plan, by its name in the operation's record.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum PlanKind {
    /// Returns an entity unchanged.
    None,
    /// Opens a music request.
    OpenRequest,
    /// Moves a music request to another state.
    MoveRequest,
    /// Opens a withdrawal.
    OpenWithdrawal,
    /// Moves a withdrawal to another state.
    MoveWithdrawal,
    /// Approves a withdrawal.
    ApproveWithdrawal,
    /// Opens a top-up.
    OpenTopup,
    /// Orders a top-up at its provider.
    OrderTopup,
    /// Confirms or fails a top-up.
    MoveTopup,
    /// Reverses a confirmed top-up.
    ReverseTopup,
    /// Moves the money of a top-up into suspense.
    SuspendTopup,
    /// Moves the money of a top-up out of suspense.
    SettleSuspense,
    /// Adjusts a balance.
    Adjust,
    /// Changes a profile.
    Profile,
    /// Suspends an account.
    Suspend,
    /// Ends the suspension of an account.
    Restore,
    /// Changes a user's role.
    Role,
    /// Resolves a provider message.
    ResolveMessage,
}

named_enum!(PlanKind);

/// An invariant checked on the locked book, beyond the accounts' floors and the expected states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    /// The owner of the withdrawal owes nothing.
    NoDebt,
    /// The opened withdrawal stays within this window.
    Window(Window),
    /// Including the opened request, the guest has at most this many open requests with the DJ.
    OpenRequests(u32),
    /// The judging operator has not adjusted the owner's wallet within [`Adjustment::JUDGING_BAR`].
    NoRecentAdjustment(UserId),
    /// The change leaves an active operator, if there was one.
    ActiveOperator,
}

/// One atomic change, made only by the rules in [`crate::operation::plans`].
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    pub(crate) metadata: OperationMetadata,
    pub(crate) step: Step,
    pub(crate) guards: Vec<Guard>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) rules: PostingRules,
}

impl Plan {
    /// The operation metadata.
    #[must_use]
    pub const fn metadata(&self) -> &OperationMetadata {
        &self.metadata
    }

    /// The effect beside moving money.
    #[must_use]
    pub const fn step(&self) -> &Step {
        &self.step
    }

    /// The entity that the plan changes, to which the entries of its money refer.
    #[must_use]
    pub const fn reference(&self) -> EntityRef {
        match &self.step {
            Step::Unchanged(entity) => entity.reference(),
            Step::OpenRequest(request) | Step::MoveRequest { before: request, .. } => {
                EntityRef::MusicRequest(request.id)
            }
            Step::OpenWithdrawal { withdrawal, .. }
            | Step::MoveWithdrawal { before: withdrawal, .. }
            | Step::ApproveWithdrawal { before: withdrawal, .. } => EntityRef::Withdrawal(withdrawal.id),
            Step::OpenTopup(topup)
            | Step::OrderTopup { before: topup, .. }
            | Step::MoveTopup { before: topup, .. }
            | Step::SuspendTopup { before: topup, .. } => EntityRef::Topup(topup.id),
            Step::Adjust(adjustment) => EntityRef::Adjustment(adjustment.id),
            Step::Profile { user, .. } | Step::ChangeAccountStatus { user, .. } => EntityRef::User(*user),
            Step::ResolveMessage { before, .. } => EntityRef::ProviderMessage(before.id),
        }
    }

    /// The same plan, with its money posted by these rules.
    #[must_use]
    pub fn posted_by(self, rules: PostingRules) -> Self {
        Self { rules, ..self }
    }

    /// The plan's kind, for the record of operations.
    #[must_use]
    pub const fn kind(&self) -> PlanKind {
        match &self.step {
            Step::Unchanged(_) => PlanKind::None,
            Step::OpenRequest(_) => PlanKind::OpenRequest,
            Step::MoveRequest { .. } => PlanKind::MoveRequest,
            Step::OpenWithdrawal { .. } => PlanKind::OpenWithdrawal,
            Step::MoveWithdrawal { .. } => PlanKind::MoveWithdrawal,
            Step::ApproveWithdrawal { .. } => PlanKind::ApproveWithdrawal,
            Step::OpenTopup(_) => PlanKind::OpenTopup,
            Step::OrderTopup { .. } => PlanKind::OrderTopup,
            Step::MoveTopup { to: TopupStatus::Reversed, .. } => PlanKind::ReverseTopup,
            Step::MoveTopup { .. } => PlanKind::MoveTopup,
            Step::SuspendTopup { suspense: Suspense { settlement: None, .. }, .. } => PlanKind::SuspendTopup,
            Step::SuspendTopup { .. } => PlanKind::SettleSuspense,
            Step::Adjust(_) => PlanKind::Adjust,
            Step::Profile { .. } => PlanKind::Profile,
            Step::ChangeAccountStatus { change: AccountStatusChange::Suspend, .. } => PlanKind::Suspend,
            Step::ChangeAccountStatus { change: AccountStatusChange::Restore, .. } => PlanKind::Restore,
            Step::ChangeAccountStatus { change: AccountStatusChange::Role(_), .. } => PlanKind::Role,
            Step::ResolveMessage { .. } => PlanKind::ResolveMessage,
        }
    }

    /// The user who must be an active operator for the plan to be applied.
    pub(crate) const fn operator(&self) -> Option<UserId> {
        match self.metadata.actor {
            Actor::User(user) if self.metadata.as_operator => Some(user),
            _ => None,
        }
    }

    /// The time after which an adjustment bars its operator from judging the wallet's withdrawals.
    pub(crate) fn adjustments_since(&self) -> Timestamp {
        self.metadata.at.minus(Adjustment::JUDGING_BAR)
    }
}
