//! What a withdrawal waits for, and what operators see when they review it.

use strum::{EnumIter, EnumMessage, EnumString, IntoStaticStr};

use crate::money::Money;
use crate::names::{explained_enum, named_enum};
use crate::timestamp::Timestamp;
use crate::withdrawal::{Move, Withdrawal};

/// What has to happen before a withdrawal can go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, IntoStaticStr, EnumString, EnumIter, EnumMessage)]
#[strum(serialize_all = "snake_case")]
pub enum WaitingFor {
    /// The owner of the withdrawal has to pay a debt first.
    Debt,
}

named_enum!(WaitingFor);
explained_enum!(WaitingFor);

impl Withdrawal {
    /// What the withdrawal waits for, given its owner's debt.
    #[must_use]
    pub fn waiting_for(&self, owed: Money) -> Option<WaitingFor> {
        let next = [Move::Approve { by: None, second_above: None }, Move::Process];
        let waits = !owed.is_zero() && next.iter().any(|to| to.is_refused_in_debt(&self.state));
        waits.then_some(WaitingFor::Debt)
    }
}

/// The present facts beside a withdrawal on which its approval depends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WithdrawalReview {
    /// The debt of its owner.
    pub owed: Money,
    /// Its [`sum_24h`](crate::withdrawal::sum_24h).
    pub sum_24h: Money,
    /// The time of the last change of the owner's e-mail address or reset of the password.
    pub login_changed_at: Option<Timestamp>,
}
