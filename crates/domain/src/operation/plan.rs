//! A plan: one atomic change, decided by a rule and applied by a store.

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use time::Duration;

use crate::entity_ref::EntityRef;
use crate::gig::AssignedCode;
use crate::ids::{GigId, OperationId, UserId};
use crate::ledger::adjustment::Adjustment;
use crate::ledger::{PostingRules, Transfer};
use crate::money::Amount;
use crate::music_request::{MusicRequest, QueueLimits, RequestRating, RequestStatus, Voice};
use crate::names::{explained_enum, named_enum};
use crate::operation::feature_level::{self, FeatureLevel};
use crate::operation::{Actor, Entity, OperationMetadata};
use crate::text::ShortMessage;
use crate::timestamp::Timestamp;
use crate::topup::GuestTopupLimits;
use crate::user::{DjChange, DjProfile, ProfileChange, UserStatusChange, change_dj};
use crate::withdrawal::{Window, Withdrawal};

/// The effect of a plan beside moving money.
#[derive(Clone, PartialEq, Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "most plans move an entity, and a plan is moved only a few times"
)]
pub enum Step {
    /// No effect: the entity already has the requested state, and must still be as loaded.
    Unchanged(Entity),
    Open(Entity),
    /// Changes an entity other than a user.
    Move {
        /// The expected entity.
        before: Entity,
        /// The entity after the change.
        after: Entity,
    },
    /// Opens or approves a withdrawal, with a state that is decided when the plan is applied.
    Judge(WithdrawalJudgement),
    /// Changes a user; the result depends on the user as stored when the plan is applied.
    ChangeUser {
        user: UserId,
        change: UserChange,
    },
}

/// A decision about a withdrawal that depends on its owner's other withdrawals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WithdrawalJudgement {
    /// Opens a withdrawal, which is then pending or approved.
    Open {
        /// The withdrawal, pending.
        withdrawal: Withdrawal,
        /// The sum of its owner's recent withdrawals below which it needs no operator.
        auto_approve_below: Amount,
    },
    /// Adds an operator's approval to a pending withdrawal, which is then approved or still pending.
    Approve {
        /// The expected withdrawal, approvals included.
        before: Withdrawal,
        /// The approving operator.
        by: UserId,
        /// The sum of its owner's recent withdrawals above which two operators must approve.
        second_above: Option<Amount>,
    },
}

/// A change of a user.
#[derive(Clone, PartialEq, Debug)]
pub enum UserChange {
    Profile(Box<ProfileChange>),
    /// Changes the status or the role.
    Status(UserStatusChange),
}

/// Fields of a DJ that a plan changes beside its step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Tally {
    /// The requests that this DJ has played.
    Played(UserId),
    /// The rating of a DJ. `rating` is the new or changed rating of this voice.
    Rated { voice: Voice, rating: RequestRating },
    /// The presence and the prices of a DJ, which a gig of theirs sets.
    Presence { dj: UserId, change: DjChange },
}

impl Tally {
    /// The user with the fields.
    pub(super) const fn user(self) -> UserId {
        match self {
            Self::Played(dj) | Self::Presence { dj, .. } => dj,
            Self::Rated { voice, .. } => voice.dj,
        }
    }

    /// Whether the fields of an erased user change too: an erased DJ keeps their ratings, and their gig ends.
    pub(super) const fn outlives_user(self) -> bool {
        match self {
            Self::Played(_) => false,
            Self::Rated { .. } | Self::Presence { .. } => true,
        }
    }

    /// The voice whose newest rating decides on the change.
    pub(super) const fn voice(self) -> Option<Voice> {
        match self {
            Self::Rated { voice, .. } => Some(voice),
            Self::Played(_) | Self::Presence { .. } => None,
        }
    }

    /// Changes the fields; `None` if a number would be too large. `newest` is the newest rating of the voice before the
    /// plan.
    pub(super) fn add_to(self, profile: &mut DjProfile, newest: Option<&RequestRating>) -> Option<()> {
        match self {
            Self::Played(_) => profile.played = profile.played.checked_add(1)?,
            Self::Rated { rating, .. } => {
                let (sum, change) = (&mut profile.rating, rating.change_of(newest));
                sum.stars = sum.stars.checked_add(change.stars)?;
                sum.count = sum.count.checked_add(change.count)?;
            }
            Self::Presence { change, .. } => change_dj(profile, &change),
        }
        Some(())
    }
}

/// The kind of a plan, by its name in the operation's record.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum PlanKind {
    /// Nothing was changed.
    None,
    /// A music request was created.
    OpenRequest,
    /// The status of a music request changed.
    MoveRequest,
    /// A withdrawal was created.
    OpenWithdrawal,
    /// The status of a withdrawal changed.
    MoveWithdrawal,
    /// An operator approved a withdrawal.
    ApproveWithdrawal,
    /// A top-up was created.
    OpenTopup,
    /// The payment provider accepted a top-up.
    OrderTopup,
    /// A top-up was confirmed or failed.
    MoveTopup,
    /// A confirmed top-up was charged back.
    ReverseTopup,
    /// The money of a top-up for an erased account was put into suspense.
    SuspendTopup,
    /// An operator settled money in suspense.
    SettleSuspense,
    /// An operator adjusted the balance.
    Adjust,
    /// The profile changed.
    Profile,
    /// The account was suspended.
    Suspend,
    /// The suspension of the account ended.
    Restore,
    /// The role of the account changed.
    Role,
    /// An operator resolved a message of a provider.
    ResolveMessage,
    /// A played request was rated.
    RateRequest,
    /// A gig was opened.
    OpenGig,
    /// A gig changed.
    ChangeGig,
    /// A gig ended.
    EndGig,
    /// A guest gave a tip to a DJ.
    Tip,
}

named_enum!(PlanKind);
explained_enum!(PlanKind);

/// An invariant checked on the locked book, beyond the accounts' floors and the expected states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guard {
    /// The user was not erased.
    Present(UserId),
    /// The user is neither suspended nor erased.
    Active(UserId),
    /// The owner of this wallet owes nothing.
    NoDebt(UserId),
    /// The user's withdrawals and another one of this amount stay within a window.
    Window {
        /// The owner.
        of: UserId,
        /// The amount of the new withdrawal.
        amount: Amount,
        window: Window,
    },
    /// The available money that is not clearing covers this amount.
    Cleared {
        /// The owner.
        of: UserId,
        /// The amount of the new withdrawal.
        amount: Amount,
        /// The time after which income can be withdrawn.
        time: Duration,
    },
    /// A top-up of this amount by a guest account stays within the limits.
    GuestTopup {
        /// The guest account.
        of: UserId,
        /// The amount of the new top-up.
        amount: Amount,
        limits: GuestTopupLimits,
    },
    /// The user's e-mail address is verified.
    VerifiedEmail(UserId),
    /// Including the opened request, the guest has at most this many open requests with the DJ.
    OpenRequests {
        guest: UserId,
        dj: UserId,
        /// The maximum, including the new one.
        most: u32,
    },
    /// The gig is open, and its queue has room for another request.
    QueueRoom {
        gig: GigId,
        /// The limits, including the new request.
        limits: QueueLimits,
        /// Whether the new request counts as a guest's.
        by_guest: bool,
    },
    /// The judging operator has not adjusted the wallet within [`Adjustment::JUDGING_BAR`].
    NoRecentAdjustment {
        /// The judging operator.
        by: UserId,
        /// The owner of the wallet.
        of: UserId,
    },
    /// The change of the user leaves an active operator, if there was one.
    ActiveOperator,
    /// No gig of this DJ is open.
    NoOpenGig(UserId),
    /// No gig of this DJ has ended since this request without a gig was made. Such a request ends with the next gig.
    NoGigEndedSince {
        dj: UserId,
        /// The time of the request.
        made_at: Timestamp,
        /// The status of the request.
        current: RequestStatus,
    },
    /// The gig of the moved request has not ended.
    NotEnded {
        gig: GigId,
        /// The status of the request.
        current: RequestStatus,
    },
}

/// A row that a plan adds beside its entity.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Addition {
    /// The code of the DJ who opens a gig, if it is new.
    Code(AssignedCode),
    /// The dedication of a new request. It is not part of the request, because receipts are permanent and a dedication
    /// can be erased.
    Dedication(ShortMessage),
}

/// The part of a plan for a request with a fee that rejects another request if the queue of the gig is full.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Displacement {
    /// The id of the rejection's own operation, which gives it an event of its own.
    pub(crate) operation: OperationId,
    /// The candidates, as the plan expects them. The first unchanged one that makes room is rejected.
    pub(crate) among: Vec<MusicRequest>,
}

/// One atomic change, made only by the rules in [`crate::operation::plans`].
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    pub(crate) metadata: OperationMetadata,
    pub(crate) kind: PlanKind,
    pub(crate) level: FeatureLevel,
    /// On the heap, since it has up to two entities, and plans are moved between threads.
    pub(crate) step: Box<Step>,
    pub(crate) tally: Option<Tally>,
    pub(crate) addition: Option<Addition>,
    pub(crate) displacement: Option<Displacement>,
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

    /// The kind, for the record of operations.
    #[must_use]
    pub const fn kind(&self) -> PlanKind {
        self.kind
    }

    /// The effect beside moving money.
    #[must_use]
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// The entity that the plan changes, to which the entries of its money refer.
    #[must_use]
    pub fn reference(&self) -> EntityRef {
        match &*self.step {
            Step::Unchanged(entity) | Step::Open(entity) | Step::Move { before: entity, .. } => {
                entity.reference()
            }
            Step::Judge(
                WithdrawalJudgement::Open { withdrawal, .. }
                | WithdrawalJudgement::Approve { before: withdrawal, .. },
            ) => EntityRef::Withdrawal(withdrawal.id),
            Step::ChangeUser { user, .. } => EntityRef::User(*user),
        }
    }

    /// The same plan, with its money posted by these rules.
    #[must_use]
    pub fn posted_by(self, rules: PostingRules) -> Self {
        Self { rules, ..self }
    }

    /// The level required by the values that it certainly writes. A withdrawal that turns out to need two approvals
    /// requires [`FeatureLevel::SECOND_APPROVALS`].
    #[must_use]
    pub fn feature_level(&self) -> FeatureLevel {
        self.transfers.iter().map(feature_level::of_transfer).fold(self.level, FeatureLevel::max)
    }

    /// Whether it opens a request with a fee in a gig, which may take the place of another one.
    pub(crate) fn may_displace(&self) -> bool {
        !self.transfers.is_empty() && self.counted_queue().is_some()
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
