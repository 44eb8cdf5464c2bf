//! Logging and metrics of top-up orders.

use cuepoint_domain::ports::{OrderAttempt, OrderObserver, OrderOutcome};
use cuepoint_domain::provider_message::{Contradiction, MessageSource};
use cuepoint_domain::topup::{Topup, TopupStatus};

use crate::observability::metrics::{self, ContradictionOutcome};

/// Logs the outcomes of orders, and counts the answers that contradict the ledger.
#[derive(Clone, Copy, Debug, Default)]
pub struct OrderLog;

impl OrderObserver for OrderLog {
    fn observe(&self, topup: &Topup, attempt: &OrderAttempt) {
        let (id, reference) = (topup.id, topup.reference());
        match attempt {
            OrderAttempt::Elsewhere => {}
            OrderAttempt::Ordered(outcome) => log_order(topup, outcome),
            OrderAttempt::GivenUp => {
                tracing::error!(topup = %id, %reference, "a payment request got no answer and will not be repeated");
            }
            OrderAttempt::Failed(failure) => tracing::error!(
                topup = %id, %reference, %failure, "the outcome of a payment request was not stored"
            ),
        }
    }
}

fn log_order(topup: &Topup, outcome: &OrderOutcome) {
    let (id, reference) = (topup.id, topup.reference());
    match outcome {
        OrderOutcome::Taken | OrderOutcome::Known => {}
        OrderOutcome::Refused => {
            tracing::warn!(topup = %id, %reference, "the provider refused a top-up");
        }
        OrderOutcome::Contradiction(status) => report(topup, *status),
        OrderOutcome::Unanswered(cause) => {
            tracing::warn!(topup = %id, %reference, %cause, "a payment request got no answer and will be repeated");
        }
        OrderOutcome::LastUnanswered(cause) => {
            tracing::error!(
                topup = %id, %reference, %cause, "a payment request got no answer and will not be repeated"
            );
        }
    }
}

/// Logs and counts the refusal of a top-up that the provider accepted before.
fn report(topup: &Topup, status: TopupStatus) {
    let contradiction = Contradiction::StatusContradiction;
    metrics::provider_contradiction(MessageSource::Topups, contradiction, ContradictionOutcome::Answer);
    tracing::error!(
        source = MessageSource::Topups.name(),
        reason = contradiction.name(),
        kind = "refused",
        reference = %topup.reference(),
        row = topup.id.get(),
        status = status.name(),
        "the provider refused a top-up that it had accepted"
    );
}
