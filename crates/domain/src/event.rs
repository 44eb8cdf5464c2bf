//! Events: operations as they are shown to the involved users, and to staff.

use std::collections::BTreeSet;

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};

use crate::authorization::Action;
use crate::ids::{OperationId, UserId};
use crate::music_request::RequestStatus;
use crate::names::{explained_enum, named_enum};
use crate::operation::{
    Entity, OperationRecord, Outcome, PlanKind, Position, PositionedOperation, StoredReceipt,
};
use crate::timestamp::Timestamp;
use crate::topup::TopupStatus;
use crate::withdrawal::{WithdrawalState, WithdrawalStatus};

/// The type of an event. Clients have to ignore types that they do not know.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage,
)]
pub enum EventType {
    /// A guest created a request.
    #[strum(serialize = "music_request.created")]
    MusicRequestCreated,
    /// The DJ accepted the request.
    #[strum(serialize = "music_request.accepted")]
    MusicRequestAccepted,
    /// The DJ rejected the request, its gig ended, or a request with a fee took its place.
    #[strum(serialize = "music_request.rejected")]
    MusicRequestRejected,
    /// The DJ played the song.
    #[strum(serialize = "music_request.played")]
    MusicRequestPlayed,
    /// The guest cancelled the request.
    #[strum(serialize = "music_request.cancelled")]
    MusicRequestCancelled,
    /// The DJ did not answer or play the request in time.
    #[strum(serialize = "music_request.expired")]
    MusicRequestExpired,
    /// An operator refunded a played request.
    #[strum(serialize = "music_request.refunded")]
    MusicRequestRefunded,
    /// A top-up was created. It may be confirmed at once.
    #[strum(serialize = "topup.created")]
    TopupCreated,
    /// The money of the top-up arrived.
    #[strum(serialize = "topup.confirmed")]
    TopupConfirmed,
    /// The top-up failed.
    #[strum(serialize = "topup.failed")]
    TopupFailed,
    /// The money of the top-up was charged back.
    #[strum(serialize = "topup.reversed")]
    TopupReversed,
    /// A withdrawal was created. It may be approved at once.
    #[strum(serialize = "withdrawal.created")]
    WithdrawalCreated,
    /// The withdrawal got its last required approval.
    #[strum(serialize = "withdrawal.approved")]
    WithdrawalApproved,
    /// An operator rejected the withdrawal.
    #[strum(serialize = "withdrawal.rejected")]
    WithdrawalRejected,
    /// The owner cancelled the withdrawal.
    #[strum(serialize = "withdrawal.cancelled")]
    WithdrawalCancelled,
    /// The withdrawal is being sent.
    #[strum(serialize = "withdrawal.processing")]
    WithdrawalProcessing,
    /// The transaction was broadcast to the network.
    #[strum(serialize = "withdrawal.broadcast")]
    WithdrawalBroadcast,
    /// The withdrawal was paid out.
    #[strum(serialize = "withdrawal.completed")]
    WithdrawalCompleted,
    /// The withdrawal failed, and its amount is available again.
    #[strum(serialize = "withdrawal.failed")]
    WithdrawalFailed,
    /// It is unknown whether the withdrawal was sent. An operator has to find out.
    #[strum(serialize = "withdrawal.needs_review")]
    WithdrawalNeedsReview,
    /// An operator adjusted the balance.
    #[strum(serialize = "adjustment.created")]
    AdjustmentCreated,
    /// A DJ opened a gig.
    #[strum(serialize = "gig.opened")]
    GigOpened,
    /// A gig changed. `accepting` also causes this event. `online` of the profile does not.
    #[strum(serialize = "gig.updated")]
    GigUpdated,
    /// A gig ended. Its open requests are rejected.
    #[strum(serialize = "gig.ended")]
    GigEnded,
    /// A guest gave a tip to a DJ.
    #[strum(serialize = "tip.created")]
    TipCreated,
}

named_enum!(EventType);
explained_enum!(EventType);

impl EventType {
    /// The type of the event of an operation. Changes of users, orders at providers, first approvals of
    /// two, and money in suspense produce none.
    #[must_use]
    pub const fn of(kind: PlanKind, outcome: &Outcome) -> Option<Self> {
        match (kind, &outcome.entity) {
            (PlanKind::OpenRequest, _) => Some(Self::MusicRequestCreated),
            (PlanKind::MoveRequest, Entity::MusicRequest(request)) => {
                Self::of_request(request.state.status())
            }
            (PlanKind::OpenTopup, _) => Some(Self::TopupCreated),
            (PlanKind::MoveTopup | PlanKind::ReverseTopup, Entity::Topup(topup)) => {
                Self::of_topup(topup.status)
            }
            (PlanKind::OpenWithdrawal, _) => Some(Self::WithdrawalCreated),
            (PlanKind::MoveWithdrawal | PlanKind::ApproveWithdrawal, Entity::Withdrawal(withdrawal)) => {
                Self::of_withdrawal(&withdrawal.state)
            }
            (PlanKind::Adjust, _) => Some(Self::AdjustmentCreated),
            (PlanKind::OpenGig, _) => Some(Self::GigOpened),
            (PlanKind::ChangeGig, _) => Some(Self::GigUpdated),
            (PlanKind::EndGig, _) => Some(Self::GigEnded),
            (PlanKind::Tip, _) => Some(Self::TipCreated),
            (
                PlanKind::MoveRequest
                | PlanKind::MoveTopup
                | PlanKind::ReverseTopup
                | PlanKind::MoveWithdrawal
                | PlanKind::ApproveWithdrawal
                | PlanKind::None
                | PlanKind::OrderTopup
                | PlanKind::SuspendTopup
                | PlanKind::SettleSuspense
                | PlanKind::Profile
                | PlanKind::Suspend
                | PlanKind::Restore
                | PlanKind::Role
                | PlanKind::ResolveMessage
                | PlanKind::RateRequest,
                _,
            ) => None,
        }
    }

    const fn of_request(moved_to: RequestStatus) -> Option<Self> {
        match moved_to {
            RequestStatus::Accepted => Some(Self::MusicRequestAccepted),
            RequestStatus::Rejected => Some(Self::MusicRequestRejected),
            RequestStatus::Played => Some(Self::MusicRequestPlayed),
            RequestStatus::Cancelled => Some(Self::MusicRequestCancelled),
            RequestStatus::Expired => Some(Self::MusicRequestExpired),
            RequestStatus::Refunded => Some(Self::MusicRequestRefunded),
            RequestStatus::Pending | RequestStatus::Unknown(_) => None,
        }
    }

    const fn of_topup(moved_to: TopupStatus) -> Option<Self> {
        match moved_to {
            TopupStatus::Confirmed => Some(Self::TopupConfirmed),
            TopupStatus::Failed => Some(Self::TopupFailed),
            TopupStatus::Reversed => Some(Self::TopupReversed),
            TopupStatus::Pending | TopupStatus::Unknown(_) => None,
        }
    }

    const fn of_withdrawal(moved_to: &WithdrawalState) -> Option<Self> {
        match moved_to.status() {
            WithdrawalStatus::Approved => Some(Self::WithdrawalApproved),
            WithdrawalStatus::Rejected => Some(Self::WithdrawalRejected),
            WithdrawalStatus::Cancelled => Some(Self::WithdrawalCancelled),
            WithdrawalStatus::Processing if begins_processing(moved_to) => Some(Self::WithdrawalProcessing),
            WithdrawalStatus::Broadcast => Some(Self::WithdrawalBroadcast),
            WithdrawalStatus::Completed => Some(Self::WithdrawalCompleted),
            WithdrawalStatus::Failed => Some(Self::WithdrawalFailed),
            WithdrawalStatus::NeedsReview => Some(Self::WithdrawalNeedsReview),
            WithdrawalStatus::Pending | WithdrawalStatus::Processing | WithdrawalStatus::Unknown(_) => None,
        }
    }
}

/// Whether a withdrawal in this state was not processing before: sent for the first time, or taken by an
/// operator. Further attempts and the provider's acceptance keep the status.
const fn begins_processing(state: &WithdrawalState) -> bool {
    matches!(
        state,
        WithdrawalState::Processing { attempts: 0, .. }
            | WithdrawalState::Processing { attempts: 1, retry_at: Some(_) }
    )
}

/// The involved users of an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Audience {
    /// The owner of the entity: the guest of a request or a tip, or the user whose money it is.
    pub owner: Option<UserId>,
    /// The DJ of a request, a tip or a gig.
    pub dj: Option<UserId>,
}

impl Audience {
    /// The involved users of an operation; none if it has no event.
    #[must_use]
    pub fn of(kind: Option<PlanKind>, receipt: &StoredReceipt) -> Self {
        let outcome = receipt.whole().map(|receipt| &receipt.outcome);
        match (kind, outcome) {
            (Some(kind), Some(outcome)) if EventType::of(kind, outcome).is_some() => {
                Self::of_outcome(outcome)
            }
            _ => Self::default(),
        }
    }

    /// The same of an operation that is about to be stored.
    #[must_use]
    pub fn of_record(record: &OperationRecord) -> Self {
        match EventType::of(record.kind, &record.receipt.outcome) {
            Some(_) => Self::of_outcome(&record.receipt.outcome),
            None => Self::default(),
        }
    }

    fn of_outcome(outcome: &Outcome) -> Self {
        let facts = outcome.entity.facts();
        Self { owner: facts.owner(), dj: facts.dj() }
    }
}

/// The events that a reader may see.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage)]
#[strum(serialize_all = "snake_case")]
pub enum Feed {
    /// The events that involve the account.
    Own,
    /// The events of all accounts. Only for operators.
    All,
}

named_enum!(Feed);
explained_enum!(Feed);

impl Feed {
    /// The action of reading the feed.
    #[must_use]
    pub const fn action(self) -> Action {
        match self {
            Self::Own => Action::ReadEvents,
            Self::All => Action::ReadAllEvents,
        }
    }

    /// The user who is involved in the events of the feed, for a reader; `None` for all users.
    #[must_use]
    pub const fn concerning(self, reader: UserId) -> Option<UserId> {
        match self {
            Self::Own => Some(reader),
            Self::All => None,
        }
    }
}

/// An event.
#[derive(Clone, PartialEq, Debug)]
pub struct Event {
    /// The position of its operation.
    pub position: Position,
    pub id: OperationId,
    pub event_type: EventType,
    /// The time of the decision.
    pub created_at: Timestamp,
    /// The entity as it was right after the operation.
    pub outcome: Outcome,
}

impl Event {
    /// Whether the event has one of these types; `None` means all.
    #[must_use]
    pub fn is_one_of(&self, types: Option<&BTreeSet<EventType>>) -> bool {
        types.is_none_or(|types| types.contains(&self.event_type))
    }

    /// The involved users.
    #[must_use]
    pub fn audience(&self) -> Audience {
        Audience::of_outcome(&self.outcome)
    }

    /// The event of an operation, if it has one.
    #[must_use]
    pub fn of(operation: PositionedOperation) -> Option<Self> {
        let PositionedOperation { position, kind, receipt, .. } = operation;
        let StoredReceipt::Whole(receipt) = receipt else { return None };
        let event_type = EventType::of(kind?, &receipt.outcome)?;
        Some(Self {
            position,
            id: receipt.operation,
            event_type,
            created_at: receipt.at,
            outcome: receipt.outcome,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn withdrawal(attempts: u32, retry_at: Option<Timestamp>) -> Option<EventType> {
        EventType::of_withdrawal(&WithdrawalState::Processing { attempts, retry_at })
    }

    #[test]
    fn the_processing_event_of_a_withdrawal_occurs_only_once() {
        let again = Some(Timestamp::EPOCH);
        let begins = Some(EventType::WithdrawalProcessing);
        assert_eq!(withdrawal(0, None), begins, "taken by an operator");
        assert_eq!(withdrawal(1, again), begins, "sent for the first time");
        assert_eq!(withdrawal(1, None), None, "accepted by the provider");
        assert_eq!(withdrawal(2, again), None, "sent again");
        assert_eq!(withdrawal(2, None), None, "accepted at the second attempt");
    }

    /// The statuses that the rules can move an entity to, each with an event; others have none.
    #[test]
    fn each_request_or_topup_status_except_pending_has_an_event_type() {
        let name = |event: Option<EventType>| event.map(EventType::name);
        for status in RequestStatus::all().filter(|status| *status != RequestStatus::Pending) {
            let expected = format!("music_request.{}", status.name());
            assert_eq!(name(EventType::of_request(status)), Some(expected.as_str()));
        }
        for status in TopupStatus::all().filter(|status| *status != TopupStatus::Pending) {
            assert_eq!(name(EventType::of_topup(status)), Some(format!("topup.{}", status.name()).as_str()));
        }
        assert_eq!(EventType::of_request(RequestStatus::Pending), None);
        assert_eq!(EventType::of_topup(TopupStatus::Pending), None);
    }
}
