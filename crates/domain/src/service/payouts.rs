//! Paying withdrawals out through the provider: what the worker sends, and what the provider says.

#[cfg(test)]
mod tests;

use std::sync::Arc;

use futures_util::future::join_all;

use crate::ids::WithdrawalId;
use crate::ledger::{Origin, Rejection};
use crate::plans;
use crate::ports::{Applied, ApplyError, PayoutAnswer, PayoutProvider, Unavailable, Withdrawals};
use crate::provider_message::Contradiction;
use crate::provider_reference::{MessageSubject, ProviderReference};
use crate::service::desk::{ATTEMPTS, Desk, Obstacle};
use crate::service::inbox::{Identified, TellError, identified};
use crate::text::Line;
use crate::withdrawal::{
    Heard, Move, PayoutTerms, PayoutWord, Withdrawal, WithdrawalStatus, hear, next_send,
};

/// Withdrawals sent at once.
const BATCH: u32 = 16;

/// What a provider's word came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// The withdrawal moved, and stands here now.
    Moved(WithdrawalStatus),
    /// It was known already, or something later is.
    Known,
    /// The withdrawal waits for an operator, and nothing changed.
    ForOperator,
    /// It contradicts the withdrawal, which stands here, and nothing changed: an operator has to look at it.
    Contradiction(WithdrawalStatus, Contradiction),
}

/// What became of one withdrawal that was due.
#[derive(Debug)]
pub enum Sent {
    /// Somebody else took it up.
    Elsewhere,
    /// The provider answered so, and this is what its answer came to.
    Answered(PayoutWord, Told),
    /// There is no answer that can be read; it is sent again later.
    Unanswered(Unavailable),
    /// It was sent often enough without an answer: an operator has to look at it.
    GivenUp,
    /// It could not be taken up, or the answer not be written down; then it is sent again later.
    Failed(TellError),
}

/// The use cases of paying out.
#[derive(Clone)]
pub struct Payouts {
    pub(super) desk: Desk,
    pub(super) withdrawals: Arc<dyn Withdrawals>,
    pub(super) provider: Arc<dyn PayoutProvider>,
    pub(super) terms: PayoutTerms,
}

impl Payouts {
    /// Whether there is nothing to do for a worker, because operators send by hand.
    #[must_use]
    pub fn by_hand(&self) -> bool {
        !self.provider.sends()
    }

    /// Sends some of the withdrawals that are due, and says what became of each; none when none is due.
    ///
    /// Any number of servers may do so at once: a withdrawal is taken up by a plan, which one of them gets. Who dies
    /// after that leaves it to be sent again, under the same reference.
    ///
    /// # Errors
    /// [`Unavailable`] when it cannot be known what is due.
    pub async fn run(&self) -> Result<Vec<(Withdrawal, Sent)>, Unavailable> {
        if self.by_hand() {
            return Ok(Vec::new());
        }
        let due = self.withdrawals.due_payouts(self.desk.now(), BATCH).await?;
        let sending = due.into_iter().map(async |withdrawal| {
            let sent = self.send(&withdrawal).await.unwrap_or_else(Sent::Failed);
            (withdrawal, sent)
        });
        Ok(join_all(sending).await)
    }

    async fn send(&self, withdrawal: &Withdrawal) -> Result<Sent, TellError> {
        let Some(next) = next_send(withdrawal, &self.terms, self.desk.now()) else {
            return Ok(Sent::Elsewhere);
        };
        let gives_up = next == Move::Review;
        let id = withdrawal.id;
        match self.step(withdrawal, next, None).await? {
            Step::Stale => return Ok(Sent::Elsewhere),
            Step::Taken if gives_up => return Ok(Sent::GivenUp),
            Step::Taken => {}
        }
        // From here on the money may be on its way, whatever happens to this process.
        match self.provider.send(withdrawal).await {
            PayoutAnswer::Said(word, reason) => {
                let told = self.told(id, &word, reason).await?;
                Ok(Sent::Answered(word, told))
            }
            PayoutAnswer::Unknown(cause) => Ok(Sent::Unanswered(cause)),
        }
    }

    /// Which withdrawal a provider's message is about.
    ///
    /// # Errors
    /// [`TellError`].
    pub(super) async fn named(&self, subject: MessageSubject) -> Result<Identified<WithdrawalId>, TellError> {
        let found = match subject.key() {
            ProviderReference::Operation(opening) => self.withdrawals.withdrawal_opened_by(opening).await?,
            ProviderReference::Row(id) => match WithdrawalId::new(id) {
                Some(id) => self.withdrawals.withdrawal(id).await?,
                None => None,
            },
        };
        let found = found.map(|withdrawal| (withdrawal.id, withdrawal.id.get(), withdrawal.reference()));
        identified(subject, found)
    }

    /// Hears the provider's word about a withdrawal, however often and in whatever order words arrive.
    ///
    /// # Errors
    /// [`TellError`]; what was applied until then stays, and the same word again goes on from there.
    pub async fn told(
        &self,
        id: WithdrawalId,
        word: &PayoutWord,
        reason: Option<Line>,
    ) -> Result<Told, TellError> {
        let mut moved = None;
        let mut stale: u32 = 0;
        loop {
            let stored = self.withdrawals.withdrawal(id).await?;
            let withdrawal = stored.ok_or(Obstacle::Broken("a withdrawal is gone"))?;
            let status = withdrawal.state.status();
            let next = match hear(&withdrawal, word) {
                Heard::Move(next) => next,
                Heard::Known | Heard::ForOperator if moved == Some(status) => return Ok(Told::Moved(status)),
                Heard::Known => return Ok(Told::Known),
                Heard::ForOperator => return Ok(Told::ForOperator),
                Heard::Contradiction(contradiction) => return Ok(Told::Contradiction(status, contradiction)),
                Heard::Unknown => return Err(Obstacle::Conflict.into()),
            };
            let to = next.to();
            match self.step(&withdrawal, next, reason.clone()).await? {
                Step::Taken => moved = Some(to),
                Step::Stale if stale < ATTEMPTS => stale = stale.saturating_add(1),
                Step::Stale => return Err(Obstacle::Conflict.into()),
            }
        }
    }

    async fn step(
        &self,
        withdrawal: &Withdrawal,
        next: Move,
        reason: Option<Line>,
    ) -> Result<Step, Obstacle> {
        let operation = self.desk.ids.operation();
        let origin = Origin { reason, ..Origin::system(operation, self.desk.now()) };
        // The rules of what is due and of what is heard allow no move that the machine refuses.
        let plan = plans::move_withdrawal(origin, withdrawal, next)
            .map_err(|_| Obstacle::Broken("a payout takes a step that its withdrawal has not"))?;
        match self.desk.apply(plan).await {
            Ok(Applied::Fresh(_) | Applied::Replayed(_)) => Ok(Step::Taken),
            Err(ApplyError::Rejected(Rejection::Stale)) => Ok(Step::Stale),
            Err(error) => Err(error.into()),
        }
    }
}

/// What became of one step.
enum Step {
    Taken,
    Stale,
}
