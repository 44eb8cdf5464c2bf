//! Withdrawals: payouts in a cryptocurrency requested by a DJ or guest, and their state machine.

mod approval;
mod clearing;
mod entity_facts;
mod limits;
mod moves;
mod next_statuses;
mod open;
mod payout;
mod review;

pub use approval::{Approval, SUM_WITHIN, WATCHED_AFTER_LOGIN_CHANGE, approvals_needed, sum_24h};
pub(crate) use approval::{approve, needs_no_operator};
pub use clearing::{Clearing, Income};
pub use limits::{Limit, Window, WithdrawalLimits};
pub(crate) use moves::history;
pub use moves::{Decision, Move, MoveRefusal, WithdrawalMove, decide};
pub use next_statuses::{Rights, settable};
pub use open::{NewWithdrawal, OpenRefusal, WithdrawalAmount, judge, open};
pub use payout::{NextSend, PayoutTerms, PayoutUpdate, PayoutUpdateDecision, decide_update, next_send};
pub use review::{WaitingFor, WithdrawalReview};

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};
use time::Duration;

use crate::address::{AddressPolicy, OptionsTable};
use crate::ids::{OperationId, UserId, WithdrawalId};
use crate::money::Amount;
use crate::names::{explained_enum, named_enum};
use crate::provider_reference::ProviderReference;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::unknown::UnknownName;

/// A deployment's terms for withdrawals.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WithdrawalTerms {
    /// The limit of [`sum_24h`] below which a withdrawal needs no operator; `None` means that every withdrawal needs
    /// one.
    pub auto_approve_below: Option<Amount>,
    /// The limit of [`sum_24h`] above which a withdrawal needs the approvals of two operators; `None` means that one
    /// is always enough.
    pub second_approval_above: Option<Amount>,
    pub limits: WithdrawalLimits,
    /// The time after which income can be withdrawn; `None` means no delay.
    pub clearing_time: Option<Duration>,
    /// Whether the owner's e-mail address must be verified.
    pub requires_verified_email: bool,
    /// The validation of the destination.
    pub address_policy: AddressPolicy,
    /// The payout currencies and networks; a strict policy accepts no others.
    pub options: OptionsTable,
}

/// The state of a withdrawal, with its data.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WithdrawalState {
    /// Awaiting the approvals of operators; the amount is held.
    Pending,
    /// Awaiting submission; the amount is held.
    Approved,
    /// Being sent; the amount is held.
    Processing {
        /// The number of submissions to the provider; 0 if an operator sends it by hand.
        attempts: u32,
        /// The time of the next submission to the provider; `None` once the provider has accepted it, or if
        /// an operator sends it by hand.
        retry_at: Option<Timestamp>,
    },
    /// Sent as this transaction; the amount is held.
    Broadcast {
        /// The transaction on the network.
        txid: Line,
    },
    /// Arrived; the amount is captured.
    Completed {
        /// The transaction on the network.
        txid: Line,
    },
    /// Cancelled by its owner; the amount is released.
    Cancelled,
    /// Rejected by an operator; the amount is released.
    Rejected,
    /// Definitely refused by the provider; the amount is released.
    Failed {
        /// The transaction that never took effect, if one was known.
        txid: Option<Line>,
    },
    /// Unknown whether it was sent; the amount stays held until an operator finds out.
    NeedsReview {
        /// The transaction on the network, if one is known.
        txid: Option<Line>,
    },
    /// A status of a newer version: no rule moves the withdrawal or its money.
    Unknown {
        /// The status in that version.
        status: UnknownName,
        /// The transaction on the network, if one is known.
        txid: Option<Line>,
    },
}

/// The status of a withdrawal, without its data.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
#[strum(serialize_all = "snake_case")]
pub enum WithdrawalStatus {
    /// Waits for the approval of operators. The amount is held.
    Pending,
    /// Waits to be sent. The amount is held.
    Approved,
    /// Is being sent. The amount is held.
    Processing,
    /// Was sent in the transaction `txid`. The amount is held until the network has confirmed it.
    Broadcast,
    /// Has arrived. The amount is paid.
    Completed,
    /// Was cancelled by its owner. The amount is available again.
    Cancelled,
    /// Was rejected by an operator. The amount is available again.
    Rejected,
    /// Was refused by the payout provider. The amount is available again.
    Failed,
    /// It is unknown whether it was sent. The amount stays held until an operator has found out.
    NeedsReview,
    /// See [`WithdrawalState::Unknown`].
    #[strum(disabled)]
    Unknown(UnknownName),
}

named_enum!(WithdrawalStatus, Unknown);
explained_enum!(WithdrawalStatus);

impl WithdrawalStatus {
    /// Whether the money left, or may still leave, the wallet, so that the withdrawal counts towards the
    /// limits.
    #[must_use]
    pub const fn counts_towards_limits(self) -> bool {
        !matches!(self, Self::Cancelled | Self::Rejected | Self::Failed)
    }

    /// Whether the amount is held with this status.
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

    /// The transaction on the network, if known.
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

    /// The number of submissions to the provider; 0 if it is not being sent.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        match self {
            Self::Processing { attempts, .. } => *attempts,
            _ => 0,
        }
    }

    /// The time at which it is due for submission to the provider, if it is waiting for that.
    #[must_use]
    pub const fn next_send(&self) -> Option<NextSend> {
        match self {
            Self::Approved => Some(NextSend::AtOnce),
            Self::Processing { retry_at: Some(at), .. } => Some(NextSend::At(*at)),
            _ => None,
        }
    }

    /// The state that a store keeps in four columns; `None` if they contradict each other.
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

/// The filter of a list of withdrawals.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WithdrawalFilter {
    /// Only this user's.
    pub user: Option<UserId>,
    pub status: Option<WithdrawalStatus>,
}

impl WithdrawalFilter {
    /// The filter for all withdrawals of a user.
    #[must_use]
    pub const fn of(user: UserId) -> Self {
        Self { user: Some(user), status: None }
    }

    /// Whether the filter matches this withdrawal.
    #[must_use]
    pub fn shows(&self, withdrawal: &Withdrawal) -> bool {
        self.user.is_none_or(|user| user == withdrawal.user)
            && self.status.is_none_or(|status| status == withdrawal.state.status())
    }
}

/// A withdrawal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Withdrawal {
    /// The withdrawal's id.
    pub id: WithdrawalId,
    /// The operation that opened it, which never changes; `None` if an earlier version did, which recorded no
    /// such reference.
    pub opening: Option<OperationId>,
    /// The owner.
    pub user: UserId,
    /// The amount, in the wallet's currency.
    pub amount: Amount,
    /// The destination address.
    pub wallet_address: Line,
    /// The payout currency.
    pub currency: Line,
    /// The payout network.
    pub network: Line,
    pub state: WithdrawalState,
    /// The operators' approvals in order: at most one while pending, two otherwise; none for a withdrawal
    /// that needed no operator, or that a server of an earlier version approved.
    pub approvals: Vec<Approval>,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change of state; an approval that leaves it pending does not count as a change.
    pub updated_at: Timestamp,
}

impl Withdrawal {
    /// The permanent reference by which the payout provider identifies it.
    #[must_use]
    pub fn reference(&self) -> ProviderReference {
        ProviderReference::of(self.id.get(), self.opening)
    }
}
