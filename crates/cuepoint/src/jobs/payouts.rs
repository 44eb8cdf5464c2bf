//! The job that sends withdrawals to the payout provider and logs the outcomes.

use std::sync::Arc;

use cuepoint_domain::application::{PayoutAttempt, PayoutUpdateOutcome};
use cuepoint_domain::provider_message::{Contradiction, MessageSource};
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{PayoutUpdate, Withdrawal, WithdrawalStatus};
use tokio::sync::watch;

use cuepoint_adapters::observability::metrics::{self, ContradictionOutcome};
use cuepoint_adapters::service::Service;

/// Sends the due withdrawals in batches until none can be sent or the service stops.
pub(crate) async fn send_due(service: Arc<Service>, stopped: watch::Receiver<bool>) {
    // A wrong clock would misdate the payouts.
    while !*stopped.borrow() && service.authentication.clock.ensure_agreed().is_ok() {
        match service.use_cases.payouts.run().await {
            Ok(attempts) => {
                for (withdrawal, attempt) in &attempts {
                    log(withdrawal, attempt);
                }
                // Withdrawals that were not claimed are no reason to poll again at once.
                if !attempts.iter().any(|(_, attempt)| was_taken_up(attempt)) {
                    return;
                }
            }
            Err(unavailable) => {
                tracing::warn!(%unavailable, "due payouts cannot be read");
                return;
            }
        }
    }
}

const fn was_taken_up(attempt: &PayoutAttempt) -> bool {
    match attempt {
        PayoutAttempt::Answered(..) | PayoutAttempt::Unanswered(_) | PayoutAttempt::GivenUp => true,
        PayoutAttempt::Elsewhere | PayoutAttempt::Failed(_) => false,
    }
}

fn log(withdrawal: &Withdrawal, attempt: &PayoutAttempt) {
    let id = withdrawal.id;
    match attempt {
        PayoutAttempt::Elsewhere => {}
        PayoutAttempt::Answered(update, outcome) => log_answer(withdrawal, update, *outcome),
        PayoutAttempt::Unanswered(cause) => {
            tracing::warn!(withdrawal = %id, %cause, "a payout got no answer and will be sent again");
        }
        PayoutAttempt::GivenUp => {
            tracing::error!(withdrawal = %id, "a payout got no answer and needs a review; its amount stays held");
        }
        PayoutAttempt::Failed(error) => {
            tracing::error!(withdrawal = %id, %error, "the outcome of a payout was not stored");
        }
    }
}

fn log_answer(withdrawal: &Withdrawal, update: &PayoutUpdate, outcome: PayoutUpdateOutcome) {
    let id = withdrawal.id;
    match outcome {
        PayoutUpdateOutcome::Known => {}
        PayoutUpdateOutcome::Moved(WithdrawalStatus::NeedsReview) if *update == PayoutUpdate::Refused => {
            tracing::error!(
                withdrawal = %id,
                "the provider refused a payout that was sent before; it needs a review, and its amount stays held"
            );
        }
        PayoutUpdateOutcome::Moved(status) => {
            tracing::info!(withdrawal = %id, status = status.name(), "the provider answered a payout");
        }
        PayoutUpdateOutcome::ForOperator => {
            tracing::warn!(withdrawal = %id, "the provider answered a payout that an operator has to review");
        }
        PayoutUpdateOutcome::Contradiction(status, contradiction) => {
            report(withdrawal, update, status, contradiction);
        }
    }
}

/// Logs and counts an answer that contradicts the ledger. It is not stored, because answers are not signed.
fn report(
    withdrawal: &Withdrawal,
    update: &PayoutUpdate,
    status: WithdrawalStatus,
    contradiction: Contradiction,
) {
    metrics::provider_contradiction(MessageSource::Payouts, contradiction, ContradictionOutcome::Answer);
    tracing::error!(
        source = MessageSource::Payouts.name(),
        reason = contradiction.name(),
        kind = update.name(),
        reference = %withdrawal.reference(),
        row = withdrawal.id.get(),
        status = status.name(),
        txid = update.txid().map(Line::as_str),
        "a payout provider's answer contradicts the ledger"
    );
}
