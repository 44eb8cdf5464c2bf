//! The job that reads new operations for the open streams of events.

use std::sync::Arc;
use std::time::Duration;

use cuepoint_domain::application::queries::EventTail;
use cuepoint_domain::authorization::Action;
use cuepoint_domain::ports::Clock as _;
use tokio::time::{Instant, sleep, timeout};

use cuepoint_adapters::event_hub::{Authority, EndReason};
use cuepoint_adapters::observability::metrics;
use cuepoint_adapters::service::Service;

/// Minimum interval between reads.
const SPACING: Duration = Duration::from_millis(10);
/// Maximum interval between reads, without an announced commit.
const POLLED_EVERY: Duration = Duration::from_secs(1);

/// The duration of an outage that ends the streams, so that their readers notice it.
const FAILING_FOR: Duration = Duration::from_secs(10);

/// Delivers new events to the live streams, if there are any.
pub(super) async fn run(service: Arc<Service>) {
    let mut announced = 0;
    let mut failing_since: Option<Instant> = None;
    loop {
        let after = service.event_hub.due().await;
        match service.use_cases.events.tail(after).await {
            Ok(tail) => {
                if failing_since.take().is_some() {
                    tracing::info!("new events can be read again");
                }
                measure(&service, &tail);
                if tail.is_lost {
                    service.event_hub.end_all(EndReason::Reset);
                    continue;
                }
                let is_behind = after < tail.complete_to && tail.complete_to < tail.newest;
                service.event_hub.deliver(after, tail.events, tail.complete_to);
                if is_behind {
                    continue;
                }
            }
            Err(unavailable) => {
                if failing_since.is_none() {
                    tracing::warn!(%unavailable, "new events cannot be read");
                }
                let since = *failing_since.get_or_insert_with(Instant::now);
                metrics::event_delay(since.elapsed().as_secs_f64());
                if since.elapsed() > FAILING_FOR {
                    service.event_hub.end_all(EndReason::Unavailable);
                }
            }
        }
        sleep(SPACING).await;
        if let Ok(newer) = timeout(POLLED_EVERY, service.use_cases.events.announced_after(announced)).await {
            announced = newer;
        }
    }
}

/// Records how far behind the streams were before these events.
fn measure(service: &Service, tail: &EventTail) {
    let now = service.authentication.clock.now();
    let delay = tail.events.first().map_or(0.0, |event| now.since(event.created_at).as_seconds_f64());
    metrics::event_lag(tail.newest.get().saturating_sub(tail.complete_to.get()));
    metrics::event_delay(delay.max(0.0));
}

/// Whether the stream's authority is still valid.
pub(super) fn is_valid(service: &Service, authority: &Authority) -> bool {
    let revocations = &service.authentication.revocations;
    let current = revocations.check(authority.principal);
    let action: Action = authority.feed.action();
    authority.epoch == revocations.epoch()
        && service.authentication.clock.now() < authority.expires
        && current.is_ok_and(|principal| principal.has_role_for(action).is_ok())
        && (!action.is_for_staff() || revocations.ensure_current().is_ok())
}
