//! Orders top-ups, at the request that opens one and again in the background, and writes into the log what became of
//! them.

use std::sync::Arc;

use cuepoint_domain::provider_message::{Contradiction, MessageSource};
use cuepoint_domain::service::{Ordered, Worked};
use cuepoint_domain::topup::Topup;
use tokio::sync::watch;

use crate::app::App;
use crate::observability::metrics::{self, Outcome};

/// The provider refused a top-up, which failed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Refused;

/// Orders a top-up that was taken up, and answers with how it stands then.
pub(crate) async fn order(app: Arc<App>, topup: Topup) -> Result<Topup, Refused> {
    match app.services.topup_orders.order(topup.clone()).await {
        Ok((standing, ordered)) => {
            log_order(&standing, &ordered);
            if matches!(ordered, Ordered::Refused) { Err(Refused) } else { Ok(standing) }
        }
        Err(obstacle) => {
            log(&topup, &Worked::Failed(obstacle));
            Ok(topup)
        }
    }
}

/// Orders what is due, some at a time, until nothing more can be or the service stops.
pub(crate) async fn order_due(app: Arc<App>, stopped: watch::Receiver<bool>) {
    // The orders would be dated by a wrong clock.
    while !*stopped.borrow() && app.clock.ensure_agreed().is_ok() {
        match app.services.topup_orders.run().await {
            Ok(worked) => {
                for (topup, worked) in &worked {
                    log(topup, worked);
                }
                // Top-ups that other servers took up, or that cannot be taken up, are no reason to look again at
                // once.
                if !worked.iter().any(|(_, worked)| was_taken_up(worked)) {
                    return;
                }
            }
            Err(unavailable) => {
                tracing::warn!(%unavailable, "the top-ups that are due cannot be read");
                return;
            }
        }
    }
}

const fn was_taken_up(worked: &Worked) -> bool {
    match worked {
        Worked::GivenUp | Worked::Ordered(_) => true,
        Worked::Elsewhere | Worked::Failed(_) => false,
    }
}

fn log(topup: &Topup, worked: &Worked) {
    let (id, reference) = (topup.id, topup.reference());
    match worked {
        Worked::Elsewhere => {}
        Worked::Ordered(ordered) => log_order(topup, ordered),
        Worked::GivenUp => log_given_up(topup),
        Worked::Failed(obstacle) => {
            tracing::error!(topup = %id, %reference, ?obstacle, "the outcome of an order of a top-up was not kept");
        }
    }
}

/// Writes into the log that a top-up was ordered often enough.
pub(crate) fn log_given_up(topup: &Topup) {
    let (id, reference) = (topup.id, topup.reference());
    tracing::error!(topup = %id, %reference, "a top-up has no answer and is not ordered again");
}

fn log_order(topup: &Topup, ordered: &Ordered) {
    let (id, reference) = (topup.id, topup.reference());
    match ordered {
        Ordered::Taken | Ordered::Known => {}
        Ordered::Refused => {
            tracing::warn!(topup = %id, %reference, "the provider refused a top-up");
        }
        Ordered::Contradiction(status) => {
            let contradiction = Contradiction::StatusContradiction;
            metrics::provider_contradiction(MessageSource::Topups, contradiction, Outcome::Answer);
            tracing::error!(
                source = MessageSource::Topups.name(),
                reason = contradiction.name(),
                kind = "refused",
                %reference,
                row = id.get(),
                status = status.name(),
                "the provider refuses a top-up that it took before"
            );
        }
        Ordered::Unanswered(cause) => {
            tracing::warn!(topup = %id, %reference, %cause, "a top-up has no answer and is ordered again later");
        }
        Ordered::LastUnanswered(cause) => {
            tracing::error!(topup = %id, %reference, %cause, "a top-up has no answer and is not ordered again");
        }
    }
}
