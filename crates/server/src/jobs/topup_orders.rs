//! The job that orders top-ups again.

use std::sync::Arc;

use tokio::sync::watch;

use crate::app::App;

/// Orders the top-ups that are due, in batches, until none can be ordered any more or the service stops.
pub(crate) async fn order_due(app: Arc<App>, stopped: watch::Receiver<bool>) {
    // The orders would be dated by a wrong clock.
    while !*stopped.borrow() && app.authentication.clock.ensure_agreed().is_ok() {
        match app.services.topup_orders.run().await {
            // Top-ups that cannot be taken up, or not here, are no reason to look again at once.
            Ok(0) => return,
            Ok(_) => {}
            Err(unavailable) => {
                tracing::warn!(%unavailable, "the top-ups that are due cannot be read");
                return;
            }
        }
    }
}
