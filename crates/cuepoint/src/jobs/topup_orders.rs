//! The job that repeats orders of top-ups.

use std::sync::Arc;

use tokio::sync::watch;

use cuepoint_adapters::service::Service;

/// Orders the due top-ups in batches until none can be ordered or the service stops.
pub(crate) async fn order_due(service: Arc<Service>, stopped: watch::Receiver<bool>) {
    // A wrong clock would misdate the orders.
    while !*stopped.borrow() && service.authentication.clock.ensure_agreed().is_ok() {
        match service.use_cases.topup_orders.run().await {
            // Top-ups that were not claimed are no reason to poll again at once.
            Ok(0) => return,
            Ok(_) => {}
            Err(unavailable) => {
                tracing::warn!(%unavailable, "due top-ups cannot be read");
                return;
            }
        }
    }
}
