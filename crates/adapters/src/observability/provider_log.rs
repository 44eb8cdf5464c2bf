//! Logging and metrics of provider messages, and of the payments that a tester ends in the place of a provider.

use cuepoint_domain::application::{Contradicted, IncomingMessage, MessageOutcome};
use cuepoint_domain::ports::Recorded;
use cuepoint_domain::provider_message::{Excerpt, MessageSource, PresentedPayment};

use super::metrics::{self, ContradictionOutcome};

/// Logs the outcome of a message, and counts a contradiction.
pub fn observe(source: MessageSource, message: &IncomingMessage, outcome: &MessageOutcome) {
    let (source_name, kind) = (source.name(), message.kind.as_str());
    match *outcome {
        MessageOutcome::Moved { row, status } => {
            tracing::info!(source = source_name, kind, row, status, "provider message applied");
        }
        MessageOutcome::Known => {}
        MessageOutcome::Suspended { row } => tracing::warn!(
            source = source_name,
            kind,
            row,
            "payment received for a top-up of an erased user; held in suspense for an operator"
        ),
        MessageOutcome::ForOperator { row } => tracing::warn!(
            source = source_name,
            kind,
            row,
            "provider message for a payout that requires review by an operator"
        ),
        MessageOutcome::Contradiction(contradicted) => report(source, message, &contradicted),
    }
}

/// Logs and counts a message that contradicts the ledger.
fn report(source: MessageSource, message: &IncomingMessage, contradicted: &Contradicted) {
    let Contradicted { contradiction, row, status, recorded } = *contradicted;
    let outcome = ContradictionOutcome::of(recorded);
    metrics::provider_contradiction(source, contradiction, outcome);
    /// Logs the message at a level.
    macro_rules! log {
        ($level:ident, $text:literal) => {{
            let PresentedPayment { amount, currency, txid } = &message.presented;
            tracing::$level!(
                source = source.name(),
                reason = contradiction.name(),
                kind = message.kind.as_str(),
                reference = %message.subject.key(),
                stated_id = message.subject.stated_id(),
                row,
                status,
                amount = amount.as_ref().map(Excerpt::as_str),
                currency = currency.as_ref().map(Excerpt::as_str),
                txid = txid.as_ref().map(Excerpt::as_str),
                webhook_id = message.webhook_id.as_str(),
                $text
            )
        }};
    }
    match recorded {
        Recorded::Added => {
            log!(error, "provider message contradicts the ledger and was stored for an operator")
        }
        Recorded::Known => log!(warn, "provider message that contradicts the ledger was repeated"),
        Recorded::NotKept => {
            log!(
                error,
                "provider message contradicts the ledger and was not stored: too many are unresolved"
            );
        }
    }
}
