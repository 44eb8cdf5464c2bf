//! The worker that gives withdrawals to the payout provider, and writes into the log what became of them.

use std::sync::Arc;

use cuepoint_domain::provider_message::{Contradiction, MessageSource};
use cuepoint_domain::service::{Sent, Told};
use cuepoint_domain::text::Line;
use cuepoint_domain::withdrawal::{PayoutWord, Withdrawal, WithdrawalStatus};
use tokio::sync::watch;

use crate::app::App;
use crate::observability::metrics::{self, Outcome};

/// Sends what is due, some at a time, until nothing more can be or the service stops.
pub(crate) async fn send_due(app: Arc<App>, stopped: watch::Receiver<bool>) {
    // The payouts would be dated by a wrong clock.
    while !*stopped.borrow() && app.clock.ensure_agreed().is_ok() {
        match app.services.payouts.run().await {
            Ok(sent) => {
                for (withdrawal, sent) in &sent {
                    log(withdrawal, sent);
                }
                // What others take, or what cannot be taken up, is no reason to ask again at once.
                if !sent.iter().any(|(_, sent)| was_taken_up(sent)) {
                    return;
                }
            }
            Err(unavailable) => {
                tracing::warn!(%unavailable, "what is to be paid out is unknown");
                return;
            }
        }
    }
}

const fn was_taken_up(sent: &Sent) -> bool {
    match sent {
        Sent::Answered(..) | Sent::Unanswered(_) | Sent::GivenUp => true,
        Sent::Elsewhere | Sent::Failed(_) => false,
    }
}

fn log(withdrawal: &Withdrawal, sent: &Sent) {
    let id = withdrawal.id;
    match sent {
        Sent::Elsewhere | Sent::Answered(_, Told::Known) => {}
        Sent::Answered(PayoutWord::Refused, Told::Moved(WithdrawalStatus::NeedsReview)) => {
            tracing::error!(
                withdrawal = %id,
                "the provider refused a payout that was sent before; it needs a review, and its amount stays held"
            );
        }
        Sent::Answered(_, Told::Moved(status)) => {
            tracing::info!(withdrawal = %id, status = status.name(), "the provider answered a payout");
        }
        Sent::Answered(_, Told::ForOperator) => {
            tracing::warn!(withdrawal = %id, "the provider answered a payout that an operator has to review");
        }
        Sent::Answered(word, Told::Contradiction(status, contradiction)) => {
            report(withdrawal, word, *status, *contradiction);
        }
        Sent::Unanswered(cause) => {
            tracing::warn!(withdrawal = %id, %cause, "a payout has no answer and is sent again later");
        }
        Sent::GivenUp => {
            tracing::error!(withdrawal = %id, "a payout has no answer and needs a review; its amount stays held");
        }
        Sent::Failed(error) => {
            tracing::error!(withdrawal = %id, ?error, "a payout could not be written down");
        }
    }
}

/// Logs and counts an answer that contradicts the ledger. It is not kept, since nobody signed it.
fn report(
    withdrawal: &Withdrawal,
    word: &PayoutWord,
    status: WithdrawalStatus,
    contradiction: Contradiction,
) {
    metrics::provider_contradiction(MessageSource::Payouts, contradiction, Outcome::Answer);
    tracing::error!(
        source = MessageSource::Payouts.name(),
        reason = contradiction.name(),
        kind = word.name(),
        reference = %withdrawal.reference(),
        row = withdrawal.id.get(),
        status = status.name(),
        txid = word.txid().map(Line::as_str),
        "a payout provider's answer contradicts the ledger"
    );
}
