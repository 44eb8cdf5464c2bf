//! Payouts through a provider in the model: repeated orders, and the effects of status updates.

use super::{Model, Refusal, Seen, Withdrawal};
use crate::harness::tables::{WITHDRAWALS, edges};

/// The time that the provider has to answer before an order is repeated.
pub(crate) const RETRY_SECONDS: i64 = 60;

impl Model {
    /// The statuses that a withdrawal can move to, for any actor: one that was sent more than once fails only
    /// after a review.
    fn edges_of_withdrawal(&self, place: usize) -> Vec<&'static str> {
        let Withdrawal { status, attempts, .. } = self.withdrawals[place];
        let mut edges = edges(WITHDRAWALS, status);
        edges.retain(|to| *to != "failed" || status != "processing" || attempts < 2);
        edges
    }

    /// The statuses to which an operator or the owner can move a withdrawal: one that the provider may have
    /// is reviewed first.
    pub(super) fn edges_by_hand(&self, place: usize) -> Vec<&'static str> {
        let Withdrawal { status, attempts, .. } = self.withdrawals[place];
        let mut edges = self.edges_of_withdrawal(place);
        edges.retain(|to| *to != "failed" || status != "processing" || attempts == 0);
        edges
    }

    /// The refusal of a move by an operator or the owner.
    pub(super) fn refused_by_hand(&self, place: usize, to: &str) -> Refusal {
        let mut allowed = self.edges_of_withdrawal(place);
        allowed.retain(|edge| *edge != to);
        Refusal::Transition {
            current: self.withdrawals[place].status,
            allowed: allowed.into_iter().collect(),
        }
    }

    /// The refusal of a move that would be possible at another time or with another transaction.
    pub(super) fn refused_now(&self, place: usize) -> Refusal {
        let allowed = self.edges_of_withdrawal(place).into_iter().collect();
        Refusal::Transition { current: self.withdrawals[place].status, allowed }
    }

    /// Sends a withdrawal to the provider, for the first time or, when due, again.
    pub(crate) fn send(&mut self, place: usize, now: i64) -> Result<Seen, Refusal> {
        let withdrawal = &self.withdrawals[place];
        let due = withdrawal.status == "approved"
            || (withdrawal.status == "processing" && withdrawal.retry_at.is_some_and(|at| at <= now));
        if !due {
            return Err(self.refused_now(place));
        }
        if withdrawal.status == "approved" {
            self.owes_nothing(withdrawal.owner)?;
        }
        let withdrawal = &mut self.withdrawals[place];
        withdrawal.status = "processing";
        withdrawal.attempts += 1;
        withdrawal.retry_at = Some(now + RETRY_SECONDS);
        Ok(self.see_withdrawal(place))
    }

    /// Applies a status update, with this transaction if the update names one; returns its outcome.
    pub(crate) fn receive_payout_update(
        &mut self,
        place: usize,
        update: &str,
        txid: &'static str,
    ) -> &'static str {
        let Withdrawal { status, attempts, retry_at, txid: known, .. } = self.withdrawals[place];
        let names_one = ["broadcast", "completed"].contains(&update);
        let is_another = names_one && known.is_some_and(|known| known != txid);
        let (to, txid) = match (status, update) {
            ("broadcast" | "completed" | "needs_review", _) if is_another => return "txid_mismatch",
            ("needs_review", _) => return "for operator",
            ("pending" | "approved" | "cancelled" | "rejected", _)
            | ("failed", "broadcast" | "completed")
            | ("completed", "refused") => return "status_contradiction",
            ("processing", "accepted") if retry_at.is_some() => {
                self.withdrawals[place].retry_at = None;
                return "moved";
            }
            ("processing", "refused") if attempts > 1 => ("needs_review", None),
            ("processing", "refused") => ("failed", None),
            ("processing", "broadcast") => ("broadcast", Some(txid)),
            ("processing" | "broadcast", "completed") => ("completed", Some(txid)),
            ("broadcast", "refused") => ("needs_review", known),
            _ => return "known",
        };
        self.reach(place, to, txid);
        "moved"
    }
}
