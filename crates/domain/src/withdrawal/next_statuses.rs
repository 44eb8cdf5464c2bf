//! The statuses of a withdrawal that one principal can set next.

use crate::withdrawal::{Withdrawal, WithdrawalState, WithdrawalStatus};

/// What a principal may do with a withdrawal.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Rights {
    /// Cancel it, as its owner.
    pub cancel: bool,
    /// Approve, reject or fail it, as an operator who is neither its owner nor a recent adjuster of the wallet.
    pub judge: bool,
    /// Record the progress of sending it, as an operator.
    pub send: bool,
}

/// Of the statuses that can follow, those that a principal with these rights can set.
#[must_use]
pub fn settable(
    withdrawal: &Withdrawal,
    following: Vec<WithdrawalStatus>,
    rights: Rights,
) -> Vec<WithdrawalStatus> {
    // A call to the provider may be in flight: an operator reviews the withdrawal before failing it.
    let may_be_sent = matches!(withdrawal.state, WithdrawalState::Processing { attempts: 1.., .. });
    let mut settable = following;
    settable.retain(|status| match status {
        WithdrawalStatus::Cancelled => rights.cancel,
        WithdrawalStatus::Approved | WithdrawalStatus::Rejected => rights.judge,
        WithdrawalStatus::Failed => rights.judge && !may_be_sent,
        WithdrawalStatus::Processing
        | WithdrawalStatus::Broadcast
        | WithdrawalStatus::Completed
        | WithdrawalStatus::NeedsReview => rights.send,
        WithdrawalStatus::Pending | WithdrawalStatus::Unknown(_) => false,
    });
    settable
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{UserId, WithdrawalId};
    use crate::money::{Amount, Money};
    use crate::text::Line;
    use crate::timestamp::Timestamp;

    fn withdrawal(state: WithdrawalState) -> Withdrawal {
        Withdrawal {
            id: WithdrawalId::new(1).unwrap(),
            opening: None,
            user: UserId::new(7).unwrap(),
            amount: Amount::new(Money::from_minor(100)).unwrap(),
            wallet_address: Line::new("bc1q").unwrap(),
            currency: Line::new("BTC").unwrap(),
            network: Line::new("bitcoin").unwrap(),
            state,
            approvals: Vec::new(),
            created_at: Timestamp::EPOCH,
            updated_at: Timestamp::EPOCH,
        }
    }

    #[test]
    fn each_principal_is_offered_only_the_statuses_that_they_may_set() {
        use WithdrawalStatus::{Approved, Broadcast, Cancelled, Failed, NeedsReview, Processing, Rejected};
        let owner = Rights { cancel: true, ..Rights::default() };
        let operator = Rights { judge: true, send: true, ..Rights::default() };
        // An operator who owns it, and one who has adjusted the wallet.
        let own = Rights { cancel: true, send: true, ..Rights::default() };
        let adjuster = Rights { send: true, ..Rights::default() };
        let sent = |attempts| WithdrawalState::Processing { attempts, retry_at: None };
        let (pending, approved) = (WithdrawalState::Pending, WithdrawalState::Approved);
        for (state, following, rights, expected) in [
            (pending.clone(), vec![Approved, Rejected, Cancelled], owner, vec![Cancelled]),
            (pending.clone(), vec![Approved, Rejected, Cancelled], operator, vec![Approved, Rejected]),
            (pending.clone(), vec![Approved, Rejected, Cancelled], own, vec![Cancelled]),
            (pending, vec![Approved, Rejected, Cancelled], adjuster, vec![]),
            (approved.clone(), vec![Processing, Rejected, Cancelled], owner, vec![Cancelled]),
            (approved.clone(), vec![Processing, Rejected, Cancelled], operator, vec![Processing, Rejected]),
            (approved, vec![Processing, Rejected, Cancelled], adjuster, vec![Processing]),
            (sent(0), vec![Broadcast, Failed, NeedsReview], operator, vec![Broadcast, Failed, NeedsReview]),
            (sent(1), vec![Broadcast, Failed, NeedsReview], operator, vec![Broadcast, NeedsReview]),
            (sent(0), vec![Broadcast, Failed, NeedsReview], own, vec![Broadcast, NeedsReview]),
        ] {
            let settable = settable(&withdrawal(state.clone()), following, rights);
            assert_eq!(settable, expected, "{state:?} {rights:?}");
        }
    }
}
