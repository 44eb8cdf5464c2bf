//! Top-ups and withdrawals in the wallet.

use cuepoint_domain::topup::{Topup, TopupStatus};
use cuepoint_domain::withdrawal::{Decision, Move, Withdrawal, WithdrawalStatus, decide};

use crate::format::groups_of_four;
use crate::frame::Frame;
use crate::texts::Text;

/// A top-up in the list of the wallet.
#[derive(Clone, Copy, Debug)]
pub struct TopupRow<'a> {
    pub topup: &'a Topup,
    frame: &'a Frame<'a>,
}

impl<'a> TopupRow<'a> {
    /// The row of a top-up.
    #[must_use]
    pub const fn new(topup: &'a Topup, frame: &'a Frame<'a>) -> Self {
        Self { topup, frame }
    }

    pub(crate) fn label(&self) -> Text {
        let t = self.frame.t;
        match self.topup.status {
            TopupStatus::Pending => t.topup_pending(),
            TopupStatus::Confirmed => t.topup_confirmed(),
            TopupStatus::Failed => t.topup_failed(),
            TopupStatus::Reversed => t.topup_reversed(),
            TopupStatus::Unknown(_) => t.in_work(),
        }
    }
}

/// A withdrawal in the list of the wallet.
#[derive(Clone, Copy, Debug)]
pub struct WithdrawalRow<'a> {
    pub withdrawal: &'a Withdrawal,
    frame: &'a Frame<'a>,
}

impl<'a> WithdrawalRow<'a> {
    /// The row of a withdrawal.
    #[must_use]
    pub const fn new(withdrawal: &'a Withdrawal, frame: &'a Frame<'a>) -> Self {
        Self { withdrawal, frame }
    }

    pub(crate) fn label(&self) -> Text {
        let t = self.frame.t;
        match self.withdrawal.state.status() {
            WithdrawalStatus::Pending => t.withdrawal_pending(),
            WithdrawalStatus::Approved => t.withdrawal_approved(),
            WithdrawalStatus::Processing => t.withdrawal_processing(),
            WithdrawalStatus::Broadcast => t.withdrawal_broadcast(),
            WithdrawalStatus::Completed => t.withdrawal_completed(),
            WithdrawalStatus::Cancelled => t.withdrawal_cancelled(),
            WithdrawalStatus::Rejected => t.withdrawal_rejected(),
            WithdrawalStatus::Failed => t.withdrawal_failed(),
            WithdrawalStatus::NeedsReview => t.withdrawal_review(),
            WithdrawalStatus::Unknown(_) => t.in_work(),
        }
    }

    pub(crate) fn groups(&self) -> Vec<String> {
        groups_of_four(self.withdrawal.wallet_address.as_str())
    }

    pub(crate) fn can_cancel(&self) -> bool {
        matches!(decide(self.withdrawal, Move::Cancel), Ok(Decision::Moved(_)))
    }
}
