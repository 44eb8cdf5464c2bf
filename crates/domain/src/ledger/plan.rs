//! A plan: one atomic change, decided by a rule and applied by a store.

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::account::{ProfileChange, StandingChange};
use crate::ids::UserId;
use crate::ledger::adjustment::Adjustment;
use crate::ledger::{Actor, Entity, EntityRef, Origin, PostingRules, Transfer};
use crate::money::Amount;
use crate::music_request::{MusicRequest, RequestState};
use crate::names::named_enum;
use crate::provider_message::{ProviderMessage, Resolution};
use crate::text::PaymentUrl;
use crate::timestamp::Timestamp;
use crate::topup::{Orders, Suspense, Topup, TopupStatus};
use crate::withdrawal::{Window, Withdrawal, WithdrawalState};

/// What a plan does beside moving money.
#[derive(Clone, PartialEq, Debug)]
pub enum Step {
    /// Nothing: the entity has the requested state already, and must still be as it was loaded.
    Unchanged(Entity),
    /// Makes a request.
    OpenRequest(MusicRequest),
    /// Moves a request.
    MoveRequest {
        /// The request as it must stand.
        before: MusicRequest,
        /// Where it goes.
        to: RequestState,
    },
    /// Makes a withdrawal.
    OpenWithdrawal(Withdrawal),
    /// Moves a withdrawal.
    MoveWithdrawal {
        /// The withdrawal as it must stand.
        before: Withdrawal,
        /// Where it goes.
        to: WithdrawalState,
    },
    /// Adds an operator's approval to a pending withdrawal, which is approved by it or still pending.
    ApproveWithdrawal {
        /// The withdrawal as it must stand, approvals included.
        before: Withdrawal,
        /// Who approves it.
        by: UserId,
        /// Above this it takes the approvals of two operators.
        second_above: Option<Amount>,
    },
    /// Makes a top-up.
    OpenTopup(Topup),
    /// Orders a pending top-up at its provider, or keeps what came of that.
    OrderTopup {
        /// The top-up as it must stand.
        before: Topup,
        /// How it is ordered from now on.
        orders: Orders,
        /// Where the guest pays, where the provider named a page.
        page: Option<PaymentUrl>,
    },
    /// Ends a pending top-up, or takes the money of a confirmed one back.
    MoveTopup {
        /// The top-up as it must stand.
        before: Topup,
        /// Where it goes.
        to: TopupStatus,
    },
    /// Takes the money of a top-up into suspense, or out of it; a pending top-up fails.
    SuspendTopup {
        /// The top-up as it must stand.
        before: Topup,
        /// The money from now on.
        suspense: Suspense,
    },
    /// Corrects a balance.
    Adjust(Adjustment),
    /// Changes a person's profile.
    Profile {
        /// Ownership.
        user: UserId,
        /// How.
        change: Box<ProfileChange>,
    },
    /// Changes how a person stands with the service.
    Standing {
        /// Ownership.
        user: UserId,
        /// How.
        change: StandingChange,
    },
    /// Resolves a message of a provider.
    ResolveMessage {
        /// The message as it must stand.
        before: Box<ProviderMessage>,
        /// How.
        resolution: Resolution,
    },
}

/// What a plan does, by the name in the record of its operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum PlanKind {
    /// Answers an entity as it is.
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
    /// Takes the money of a confirmed top-up back.
    ReverseTopup,
    /// Takes the money of a top-up into suspense.
    SuspendTopup,
    /// Takes the money of a top-up out of suspense.
    SettleSuspense,
    /// Adjusts a balance.
    Adjust,
    /// Changes a profile.
    Profile,
    /// Suspends an account.
    Suspend,
    /// Ends the suspension of an account.
    Restore,
    /// Changes the role of a person.
    Role,
    /// Resolves a message of a provider.
    ResolveMessage,
}

named_enum!(PlanKind);

/// What must hold on the locked book, beyond the floors of the accounts and the states of what moves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    /// The withdrawal that the plan makes stays within this window.
    Window(Window),
    /// With the request that the plan makes, its guest has no more than this many open ones with its DJ.
    OpenRequests(u32),
    /// This operator, who judges the withdrawal, has not adjusted its owner's wallet within
    /// [`Adjustment::BARS_JUDGING_FOR`].
    NoRecentAdjustment(UserId),
    /// The change of a person's standing leaves an active operator, if there was one.
    ActiveOperator,
}

/// One atomic change. Only the rules in [`crate::ledger::plans`] make one.
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    pub(crate) origin: Origin,
    pub(crate) step: Step,
    pub(crate) guards: Vec<Guard>,
    pub(crate) transfers: Vec<Transfer>,
    pub(crate) rules: PostingRules,
}

impl Plan {
    /// Where it comes from.
    #[must_use]
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// What it does beside moving money.
    #[must_use]
    pub const fn step(&self) -> &Step {
        &self.step
    }

    /// The entity that it is about, to which the entries of its money refer.
    #[must_use]
    pub const fn reference(&self) -> EntityRef {
        match &self.step {
            Step::Unchanged(entity) => entity.reference(),
            Step::OpenRequest(request) | Step::MoveRequest { before: request, .. } => {
                EntityRef::MusicRequest(request.id)
            }
            Step::OpenWithdrawal(withdrawal)
            | Step::MoveWithdrawal { before: withdrawal, .. }
            | Step::ApproveWithdrawal { before: withdrawal, .. } => EntityRef::Withdrawal(withdrawal.id),
            Step::OpenTopup(topup)
            | Step::OrderTopup { before: topup, .. }
            | Step::MoveTopup { before: topup, .. }
            | Step::SuspendTopup { before: topup, .. } => EntityRef::Topup(topup.id),
            Step::Adjust(adjustment) => EntityRef::Adjustment(adjustment.id),
            Step::Profile { user, .. } | Step::Standing { user, .. } => EntityRef::User(*user),
            Step::ResolveMessage { before, .. } => EntityRef::ProviderMessage(before.id),
        }
    }

    /// The same plan, its money posted by these rules.
    #[must_use]
    pub fn posted_by(self, rules: PostingRules) -> Self {
        Self { rules, ..self }
    }

    /// What it does, for the record of operations.
    #[must_use]
    pub const fn kind(&self) -> PlanKind {
        match &self.step {
            Step::Unchanged(_) => PlanKind::None,
            Step::OpenRequest(_) => PlanKind::OpenRequest,
            Step::MoveRequest { .. } => PlanKind::MoveRequest,
            Step::OpenWithdrawal(_) => PlanKind::OpenWithdrawal,
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
            Step::Standing { change: StandingChange::Suspend, .. } => PlanKind::Suspend,
            Step::Standing { change: StandingChange::Restore, .. } => PlanKind::Restore,
            Step::Standing { change: StandingChange::Role(_), .. } => PlanKind::Role,
            Step::ResolveMessage { .. } => PlanKind::ResolveMessage,
        }
    }

    /// The person who must be an active operator for it to be applied.
    pub(crate) const fn operator(&self) -> Option<UserId> {
        match self.origin.actor {
            Actor::User(user) if self.origin.as_operator => Some(user),
            _ => None,
        }
    }

    /// The moment after which an adjustment keeps its operator from judging the wallet's withdrawals.
    pub(crate) fn adjustments_since(&self) -> Timestamp {
        self.origin.at.minus(Adjustment::BARS_JUDGING_FOR)
    }
}
