//! A DJ's or guest's request to be paid out in a cryptocurrency, and every move of its life.

mod approval;
mod limits;
mod moves;
mod open;
mod payout;

pub(crate) use approval::approve;
pub use approval::{Approval, approvals_needed};
pub use limits::{Limit, Window, WithdrawalLimits};
pub(crate) use moves::history;
pub use moves::{Decision, Move, MoveRefusal, WithdrawalMove, decide};
pub use open::{MIN_WHOLE_UNITS, NewWithdrawal, OpenRefusal, minimum, open};
pub use payout::{NextSend, PayoutTerms, PayoutUpdate, PayoutUpdateDecision, decide_update, next_send};

use strum::{EnumIter, EnumString, IntoStaticStr};

use crate::address::{AddressPolicy, OptionsTable};
use crate::ids::{OperationId, UserId, WithdrawalId};
use crate::money::Amount;
use crate::names::named_enum;
use crate::provider_reference::ProviderReference;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// What a deployment decides about withdrawals.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WithdrawalTerms {
    /// A withdrawal below this needs no operator; `None` means that each does.
    pub auto_approve_below: Option<Amount>,
    /// A withdrawal above this needs the approvals of two operators; `None` means that one is enough for each.
    pub second_approval_above: Option<Amount>,
    /// How much may be withdrawn.
    pub limits: WithdrawalLimits,
    /// How closely its destination is looked at.
    pub address_policy: AddressPolicy,
    /// What is paid out on which networks; a strict policy takes nothing else.
    pub options: OptionsTable,
}

/// Where a withdrawal stands, with what belongs to that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WithdrawalState {
    /// It waits for the approvals of operators; the amount is held.
    Pending,
    /// It waits to be sent; the amount is held.
    Approved,
    /// It is being sent; the amount is held.
    Processing {
        /// How often it was given to the provider; 0 where an operator does it by hand.
        attempts: u32,
        /// When it is given to the provider again; `None` once the provider has it, or where an operator does it by
        /// hand.
        retry_at: Option<Timestamp>,
    },
    /// It was sent as this transaction; the amount is held.
    Broadcast {
        /// The transaction on the network.
        txid: Line,
    },
    /// It arrived; the amount is captured.
    Completed {
        /// The transaction on the network.
        txid: Line,
    },
    /// Its owner took it back; the amount is released.
    Cancelled,
    /// An operator refused it; the amount is released.
    Rejected,
    /// The provider definitely refused it; the amount is released.
    Failed {
        /// The transaction that never counted, if one was known.
        txid: Option<Line>,
    },
    /// Nobody knows whether it was sent; the amount stays held until an operator finds out.
    NeedsReview {
        /// The transaction on the network, if one is known.
        txid: Option<Line>,
    },
    /// A newer version put it there: no rule moves it or its money.
    Unknown {
        /// What that version calls it.
        status: UnknownName,
        /// The transaction on the network, if one is known.
        txid: Option<Line>,
    },
}

/// A withdrawal's state by name alone.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter)]
#[strum(serialize_all = "snake_case")]
pub enum WithdrawalStatus {
    /// See [`WithdrawalState::Pending`].
    Pending,
    /// See [`WithdrawalState::Approved`].
    Approved,
    /// See [`WithdrawalState::Processing`].
    Processing,
    /// See [`WithdrawalState::Broadcast`].
    Broadcast,
    /// See [`WithdrawalState::Completed`].
    Completed,
    /// See [`WithdrawalState::Cancelled`].
    Cancelled,
    /// See [`WithdrawalState::Rejected`].
    Rejected,
    /// See [`WithdrawalState::Failed`].
    Failed,
    /// See [`WithdrawalState::NeedsReview`].
    NeedsReview,
    /// See [`WithdrawalState::Unknown`].
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(WithdrawalStatus, Unknown);

impl WithdrawalStatus {
    /// Whether the money left, or may still leave, the wallet: such a withdrawal counts towards the limits.
    #[must_use]
    pub const fn counts_towards_limits(self) -> bool {
        !matches!(self, Self::Cancelled | Self::Rejected | Self::Failed)
    }

    /// Whether the amount is held as long as the withdrawal stands so.
    #[must_use]
    pub const fn holds_amount(self) -> bool {
        self.counts_towards_limits() && !matches!(self, Self::Completed)
    }
}

impl WithdrawalState {
    /// The state's name.
    #[must_use]
    pub const fn status(&self) -> WithdrawalStatus {
        match self {
            Self::Pending => WithdrawalStatus::Pending,
            Self::Approved => WithdrawalStatus::Approved,
            Self::Processing { .. } => WithdrawalStatus::Processing,
            Self::Broadcast { .. } => WithdrawalStatus::Broadcast,
            Self::Completed { .. } => WithdrawalStatus::Completed,
            Self::Cancelled => WithdrawalStatus::Cancelled,
            Self::Rejected => WithdrawalStatus::Rejected,
            Self::Failed { .. } => WithdrawalStatus::Failed,
            Self::NeedsReview { .. } => WithdrawalStatus::NeedsReview,
            Self::Unknown { status, .. } => WithdrawalStatus::Unknown(*status),
        }
    }

    /// The transaction on the network, where one is known.
    #[must_use]
    pub const fn txid(&self) -> Option<&Line> {
        match self {
            Self::Broadcast { txid } | Self::Completed { txid } => Some(txid),
            Self::NeedsReview { txid } | Self::Failed { txid } | Self::Unknown { txid, .. } => txid.as_ref(),
            Self::Pending | Self::Approved | Self::Processing { .. } | Self::Cancelled | Self::Rejected => {
                None
            }
        }
    }

    /// How often it was given to the provider; 0 where it is not being sent.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        match self {
            Self::Processing { attempts, .. } => *attempts,
            _ => 0,
        }
    }

    /// When it waits to be given to the provider, if it does.
    #[must_use]
    pub const fn next_send(&self) -> Option<NextSend> {
        match self {
            Self::Approved => Some(NextSend::AtOnce),
            Self::Processing { retry_at: Some(at), .. } => Some(NextSend::At(*at)),
            _ => None,
        }
    }

    /// The state that a store keeps in four columns; `None` where they contradict each other.
    #[must_use]
    pub fn stored(
        status: WithdrawalStatus,
        txid: Option<Line>,
        attempts: u32,
        retry_at: Option<Timestamp>,
    ) -> Option<Self> {
        match (status, txid, attempts, retry_at) {
            (WithdrawalStatus::Processing, None, attempts, retry_at) => {
                Some(Self::Processing { attempts, retry_at })
            }
            (WithdrawalStatus::Pending, None, 0, None) => Some(Self::Pending),
            (WithdrawalStatus::Approved, None, 0, None) => Some(Self::Approved),
            (WithdrawalStatus::Broadcast, Some(txid), 0, None) => Some(Self::Broadcast { txid }),
            (WithdrawalStatus::Completed, Some(txid), 0, None) => Some(Self::Completed { txid }),
            (WithdrawalStatus::Cancelled, None, 0, None) => Some(Self::Cancelled),
            (WithdrawalStatus::Rejected, None, 0, None) => Some(Self::Rejected),
            (WithdrawalStatus::Failed, txid, 0, None) => Some(Self::Failed { txid }),
            (WithdrawalStatus::NeedsReview, txid, 0, None) => Some(Self::NeedsReview { txid }),
            (WithdrawalStatus::Unknown(status), txid, _, _) => Some(Self::Unknown { status, txid }),
            _ => None,
        }
    }
}

/// Which withdrawals a list shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WithdrawalFilter {
    /// Only this person's.
    pub user: Option<UserId>,
    /// Only those with this status.
    pub status: Option<WithdrawalStatus>,
}

impl WithdrawalFilter {
    /// All of a person's.
    #[must_use]
    pub const fn of(user: UserId) -> Self {
        Self { user: Some(user), status: None }
    }

    /// Whether the filter shows this one.
    #[must_use]
    pub fn shows(&self, withdrawal: &Withdrawal) -> bool {
        self.user.is_none_or(|user| user == withdrawal.user)
            && self.status.is_none_or(|status| status == withdrawal.state.status())
    }
}

/// A withdrawal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Withdrawal {
    /// Which it is.
    pub id: WithdrawalId,
    /// The operation that opened it; `None` where an earlier version did, which kept no such reference. Never changes.
    pub opening: Option<OperationId>,
    /// The owner of its money.
    pub user: UserId,
    /// How much, in the wallet's currency.
    pub amount: Amount,
    /// Where it is sent.
    pub wallet_address: Line,
    /// What is paid out.
    pub currency: Line,
    /// The network that it is paid out on.
    pub network: Line,
    /// Where it stands.
    pub state: WithdrawalState,
    /// The approvals of operators in their order, one while it is pending, two at most; none of what needed no operator,
    /// or was approved by a server of an earlier version.
    pub approvals: Vec<Approval>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When its state last changed; an approval after which it is still pending does not count as a change.
    pub updated_at: Timestamp,
}

impl Withdrawal {
    /// The reference by which the payout provider knows it, unchanged for ever.
    #[must_use]
    pub fn reference(&self) -> ProviderReference {
        ProviderReference::of(self.id.get(), self.opening)
    }

    /// Whether this operator may approve or reject it: nobody judges their own.
    #[must_use]
    pub fn is_judged_by(&self, operator: UserId) -> bool {
        operator != self.user
    }
}
