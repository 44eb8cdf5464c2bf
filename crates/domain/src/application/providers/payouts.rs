//! Payouts of withdrawals through the provider: orders by the worker, and the provider's status updates.

use std::sync::Arc;

use futures_util::future::join_all;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{ATTEMPTS, apply};
use crate::application::providers::message_subject::{Identified, ProviderMessageRefusal, identified};
use crate::ids::WithdrawalId;
use crate::operation::{OperationMetadata, Rejection, plans};
use crate::ports::{ApplyError, PayoutAnswer, Unavailable};
use crate::provider_message::Contradiction;
use crate::provider_reference::{MessageSubject, ProviderReference};
use crate::text::Line;
use crate::withdrawal::{
    Move, PayoutUpdate, PayoutUpdateDecision, Withdrawal, WithdrawalStatus, decide_update, next_send,
};

/// The number of withdrawals sent concurrently.
const BATCH: u32 = 16;

/// The outcome of a status update of the payout provider.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PayoutUpdateOutcome {
    Moved(WithdrawalStatus),
    /// It was known already, or a later one is.
    Known,
    /// The withdrawal waits for an operator; nothing changed.
    ForOperator,
    /// It contradicts the withdrawal, which has this status, and nothing changed: an operator has to review
    /// it.
    Contradiction(WithdrawalStatus, Contradiction),
}

/// The outcome of sending a due withdrawal.
#[derive(Debug)]
pub enum PayoutAttempt {
    /// Another server claimed it, or its owner owes money by now.
    Elsewhere,
    /// The provider's answer, and its outcome.
    Answered(PayoutUpdate, PayoutUpdateOutcome),
    /// There is no readable answer; it is sent again later.
    Unanswered(Unavailable),
    /// It was sent the maximum number of times without an answer: an operator has to review it.
    GivenUp,
    /// It could not be claimed, or its outcome not be stored; it is sent again later.
    Failed(CommandError<ProviderMessageRefusal>),
}

/// Sends payouts and processes their status updates.
#[derive(Clone)]
pub struct Payouts {
    pub(in crate::application) env: Arc<Environment>,
}

impl Payouts {
    /// Whether operators send by hand, so that a worker has nothing to do.
    #[must_use]
    pub fn by_hand(&self) -> bool {
        !self.env.ports.payout_provider.sends()
    }

    /// Sends some of the due withdrawals, and returns their outcomes; none if none is due.
    ///
    /// Any number of servers may do so concurrently: a plan claims a withdrawal, and succeeds on one of them.
    /// If that server dies, the withdrawal is sent again later, under the same reference.
    ///
    /// # Errors
    /// [`Unavailable`] when the due withdrawals cannot be read.
    pub async fn run(&self) -> Result<Vec<(Withdrawal, PayoutAttempt)>, Unavailable> {
        if self.by_hand() {
            return Ok(Vec::new());
        }
        let due = self.env.withdrawals.due_payouts(self.env.now(), BATCH).await?;
        let sending = due.into_iter().map(async |withdrawal| {
            let sent = self.send(&withdrawal).await.unwrap_or_else(PayoutAttempt::Failed);
            (withdrawal, sent)
        });
        Ok(join_all(sending).await)
    }

    pub(in crate::application) async fn send(
        &self,
        withdrawal: &Withdrawal,
    ) -> Result<PayoutAttempt, CommandError<ProviderMessageRefusal>> {
        let Some(next) = next_send(withdrawal, &self.env.terms.payouts, self.env.now()) else {
            return Ok(PayoutAttempt::Elsewhere);
        };
        let gives_up = next == Move::Review;
        let id = withdrawal.id;
        match self.step(withdrawal, next, None).await? {
            StepOutcome::Stale => return Ok(PayoutAttempt::Elsewhere),
            StepOutcome::Applied if gives_up => return Ok(PayoutAttempt::GivenUp),
            StepOutcome::Applied => {}
        }
        // From here on the money may be on its way, whatever happens to this process.
        match self.env.ports.payout_provider.send(withdrawal).await {
            PayoutAnswer::Replied(update, reason) => {
                let outcome = self.update(id, &update, reason).await?;
                Ok(PayoutAttempt::Answered(update, outcome))
            }
            PayoutAnswer::Unknown(cause) => Ok(PayoutAttempt::Unanswered(cause)),
        }
    }

    /// Identifies the withdrawal that a provider's message is about.
    ///
    /// # Errors
    /// [`CommandError`].
    pub(super) async fn named(
        &self,
        subject: MessageSubject,
    ) -> Result<Identified<WithdrawalId>, CommandError<ProviderMessageRefusal>> {
        let found = match subject.key() {
            ProviderReference::Operation(opening) => {
                self.env.withdrawals.withdrawal_opened_by(opening).await?
            }
            ProviderReference::Row(id) => match WithdrawalId::new(id) {
                Some(id) => self.env.withdrawals.withdrawal(id).await?,
                None => None,
            },
        };
        let found = found.map(|withdrawal| (withdrawal.id, withdrawal.id.get(), withdrawal.reference()));
        identified(subject, found)
    }

    /// Processes a status update about a withdrawal; idempotent and independent of the order of updates.
    ///
    /// # Errors
    /// [`CommandError`]; steps applied before it stay, and the same update continues from there.
    pub async fn update(
        &self,
        id: WithdrawalId,
        update: &PayoutUpdate,
        reason: Option<Line>,
    ) -> Result<PayoutUpdateOutcome, CommandError<ProviderMessageRefusal>> {
        let mut moved = None;
        let mut stale: u32 = 0;
        loop {
            let stored = self.env.withdrawals.withdrawal(id).await?;
            let withdrawal = stored.ok_or(Failure::Broken("a withdrawal is gone"))?;
            let status = withdrawal.state.status();
            let next = match decide_update(&withdrawal, update) {
                PayoutUpdateDecision::Move(next) => next,
                PayoutUpdateDecision::Known | PayoutUpdateDecision::ForOperator if moved == Some(status) => {
                    return Ok(PayoutUpdateOutcome::Moved(status));
                }
                PayoutUpdateDecision::Known => return Ok(PayoutUpdateOutcome::Known),
                PayoutUpdateDecision::ForOperator => return Ok(PayoutUpdateOutcome::ForOperator),
                PayoutUpdateDecision::Contradiction(contradiction) => {
                    return Ok(PayoutUpdateOutcome::Contradiction(status, contradiction));
                }
                PayoutUpdateDecision::Unknown => return Err(Failure::Conflict.into()),
            };
            let to = next.to();
            match self.step(&withdrawal, next, reason.clone()).await? {
                StepOutcome::Applied => moved = Some(to),
                StepOutcome::Stale if stale < ATTEMPTS => stale = stale.saturating_add(1),
                StepOutcome::Stale => return Err(Failure::Conflict.into()),
            }
        }
    }

    async fn step(
        &self,
        withdrawal: &Withdrawal,
        next: Move,
        reason: Option<Line>,
    ) -> Result<StepOutcome, Failure> {
        let metadata = OperationMetadata { reason, ..self.env.system() };
        // The rules for due withdrawals and status updates produce no move that the state machine refuses.
        let plan = plans::move_withdrawal(metadata, withdrawal, next)
            .map_err(|_| Failure::Broken("the state machine refused a move of a payout"))?;
        match apply(&self.env, plan, None).await {
            Ok(_) => Ok(StepOutcome::Applied),
            Err(ApplyError::Rejected(Rejection::Stale | Rejection::WalletOwes { .. })) => {
                Ok(StepOutcome::Stale)
            }
            Err(error) => Err(error.into()),
        }
    }
}

enum StepOutcome {
    Applied,
    Stale,
}
