//! The worker that gives withdrawals to the payout provider, and writes into the log what became of them.

use std::sync::Arc;

use cuepoint_domain::ids::WithdrawalId;
use cuepoint_domain::service::{Sent, Told};
use tokio::sync::watch;

use crate::app::App;

/// Sends what is due, some at a time, until nothing more can be or the service stops.
pub(crate) async fn send_due(app: Arc<App>, stopped: watch::Receiver<bool>) {
    // The payouts would be dated by a wrong clock.
    while !*stopped.borrow() && app.clock.ensure_agreed().is_ok() {
        match app.services.payouts.run().await {
            Ok(sent) => {
                for (id, sent) in &sent {
                    log(*id, sent);
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
        Sent::Answered(_) | Sent::Unanswered(_) | Sent::GivenUp => true,
        Sent::Elsewhere | Sent::Failed(_) => false,
    }
}

fn log(id: WithdrawalId, sent: &Sent) {
    match sent {
        Sent::Elsewhere | Sent::Answered(Told::Known) => {}
        Sent::Answered(Told::Moved(status)) => {
            tracing::info!(withdrawal = %id, status = status.name(), "the provider answered a payout");
        }
        Sent::Answered(Told::ForOperator) => {
            tracing::warn!(withdrawal = %id, "the provider answered a payout that an operator has to review");
        }
        Sent::Answered(Told::Contradiction(status)) => {
            let status = status.name();
            tracing::error!(withdrawal = %id, status, "the provider's answer contradicts the ledger");
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
