//! Metrics in the format of Prometheus.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Context;
use cuepoint_domain::application::TurnSummary;
use cuepoint_domain::ports::Recorded;
use cuepoint_domain::provider_message::{Contradiction, MessageSource};
use metrics::{Counter, Histogram, Unit, describe_counter, describe_gauge};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// The upper bounds of duration buckets, in seconds.
const SECONDS: &[f64] = &[0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];
/// The upper bounds of size buckets, such as plans per commit.
const SIZES: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Log lines lost because the consumer was too slow or writing failed.
const LOG_LINES_LOST: &str = "cuepoint_log_lines_lost_total";
/// Provider messages and answers that contradict the ledger.
const PROVIDER_CONTRADICTIONS: &str = "cuepoint_provider_contradictions_total";
/// 1 if the last audit found the ledger consistent, 0 if it did not.
const LEDGER_CONSISTENT: &str = "cuepoint_ledger_consistent";
/// Stored provider messages that no operator has resolved.
const MESSAGES_UNRESOLVED: &str = "cuepoint_provider_messages_unresolved";

/// Open streams of events.
const EVENT_STREAMS: &str = "cuepoint_event_streams";
/// Streams of events that this server ended.
const EVENT_STREAMS_ENDED: &str = "cuepoint_event_streams_ended_total";
/// Operations that the reader of new events has not read yet.
const EVENT_LAG: &str = "cuepoint_event_lag_positions";
/// The age of the oldest event at the time it was handed to the streams.
const EVENT_LAG_SECONDS: &str = "cuepoint_event_lag_seconds";

/// Attempts to deliver events to webhook endpoints.
const WEBHOOK_ATTEMPTS: &str = "cuepoint_webhook_attempts_total";
/// The age of the oldest event that an active webhook endpoint has not received.
const OLDEST_WEBHOOK_DELIVERY: &str = "cuepoint_webhook_oldest_pending_seconds";
/// Webhook endpoints that the service disabled.
const WEBHOOKS_DISABLED: &str = "cuepoint_webhook_endpoints_disabled_total";

/// The metrics of this process, recorded through the `metrics` macros. Histograms named `…_seconds` and
/// `…_size` have buckets.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

impl std::fmt::Debug for Metrics {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Metrics")
    }
}

impl Metrics {
    /// Installs the recorder once per process; later calls return the same metrics.
    ///
    /// # Errors
    /// When another recorder is already installed.
    pub fn install() -> anyhow::Result<Self> {
        static INSTALLED: OnceLock<Result<Metrics, String>> = OnceLock::new();
        let installed = INSTALLED.get_or_init(|| start().map_err(|error| format!("{error:#}")));
        installed.clone().map_err(anyhow::Error::msg)
    }

    /// Renders all metrics in the Prometheus text format.
    #[must_use]
    pub fn render(&self) -> String {
        self.0.render()
    }

    /// Frees memory that is no longer needed; must be called every few seconds.
    pub fn upkeep(&self) {
        self.0.run_upkeep();
    }
}

fn start() -> anyhow::Result<Metrics> {
    let handle = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)?
        .set_buckets_for_metric(Matcher::Suffix("_size".to_owned()), SIZES)?
        .install_recorder()
        .context("another metrics recorder is installed already")?;
    describe_counter!(LOG_LINES_LOST, "Log lines lost because the queue was full or a write failed.");
    // Exports the counter before the first loss.
    log_lines_lost(0);
    describe_counter!(
        PROVIDER_CONTRADICTIONS,
        "Contradictions between providers and the ledger, by source, reason and outcome: kept, repeated, not_kept \
         because too many are unresolved, or answer to a call, which is never kept."
    );
    describe_gauge!(MESSAGES_UNRESOLVED, Unit::Count, "Kept messages of providers that are unresolved.");
    describe_gauge!(EVENT_STREAMS, Unit::Count, "Open event streams.");
    describe_counter!(EVENT_STREAMS_ENDED, "Event streams that this server ended, by reason.");
    describe_gauge!(EVENT_LAG, Unit::Count, "Operations that the reader of new events has not read yet.");
    describe_gauge!(
        EVENT_LAG_SECONDS,
        Unit::Seconds,
        "Age of the oldest event that the last read passed to the streams, or the time since reads began to fail."
    );
    describe_counter!(
        WEBHOOK_ATTEMPTS,
        "Attempts to deliver events to webhook endpoints, by outcome: delivered, to be repeated, or given up."
    );
    describe_counter!(WEBHOOKS_DISABLED, "Webhook endpoints that the service disabled.");
    describe_gauge!(
        OLDEST_WEBHOOK_DELIVERY,
        Unit::Seconds,
        "Age of the oldest event that an active webhook endpoint has not received."
    );
    webhook_attempts(&TurnSummary::default());
    Ok(Metrics(handle))
}

/// Counts lost log lines.
pub(crate) fn log_lines_lost(lines: u64) {
    metrics::counter!(LOG_LINES_LOST).increment(lines);
}

/// The outcome of a contradiction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ContradictionOutcome {
    /// The message is stored for an operator.
    Kept,
    /// The message was stored before.
    Repeated,
    /// The message is not stored, because too many are unresolved.
    NotKept,
    /// The contradiction is in the answer to an order, which is not signed.
    Answer,
}

impl ContradictionOutcome {
    /// Returns the outcome for a message.
    pub const fn of(recorded: Recorded) -> Self {
        match recorded {
            Recorded::Added => Self::Kept,
            Recorded::Known => Self::Repeated,
            Recorded::NotKept => Self::NotKept,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Repeated => "repeated",
            Self::NotKept => "not_kept",
            Self::Answer => "answer",
        }
    }
}

/// Counts a contradiction by a provider.
pub fn provider_contradiction(source: MessageSource, reason: Contradiction, outcome: ContradictionOutcome) {
    let labels = [("source", source.name()), ("reason", reason.name()), ("outcome", outcome.name())];
    metrics::counter!(PROVIDER_CONTRADICTIONS, &labels).increment(1);
}

/// Records whether the last audit found the ledger consistent.
pub fn ledger_consistent(is_consistent: bool) {
    metrics::gauge!(LEDGER_CONSISTENT).set(if is_consistent { 1.0 } else { 0.0 });
}

/// Records the number of unresolved provider messages.
pub fn messages_unresolved(count: u64) {
    metrics::gauge!(MESSAGES_UNRESOLVED).set(f64::from(u32::try_from(count).unwrap_or(u32::MAX)));
}

/// Records the number of open streams of events.
pub(crate) fn event_streams(open: usize) {
    metrics::gauge!(EVENT_STREAMS).set(f64::from(u32::try_from(open).unwrap_or(u32::MAX)));
}

/// Counts a stream of events that this server ended.
pub(crate) fn event_stream_ended(reason: &'static str) {
    metrics::counter!(EVENT_STREAMS_ENDED, "reason" => reason).increment(1);
}

/// Records how many positions the streams are behind after a read.
pub fn event_lag(positions: i64) {
    metrics::gauge!(EVENT_LAG).set(f64::from(u32::try_from(positions).unwrap_or(u32::MAX)));
}

/// Records for how long the streams did not get an event: until the last read, or while none succeeds.
pub fn event_delay(seconds: f64) {
    metrics::gauge!(EVENT_LAG_SECONDS).set(seconds);
}

/// Counts the results of a turn for a webhook endpoint.
pub fn webhook_attempts(turn: &TurnSummary) {
    let TurnSummary { delivered, failed, given_up, disabled } = *turn;
    for (outcome, count) in [("delivered", delivered), ("failed", failed), ("given_up", given_up)] {
        metrics::counter!(WEBHOOK_ATTEMPTS, "outcome" => outcome).increment(count);
    }
    metrics::counter!(WEBHOOKS_DISABLED).increment(u64::from(disabled.is_some()));
}

/// Counts endpoints that were disabled outside of a turn.
pub fn webhook_endpoints_disabled(endpoints: usize) {
    metrics::counter!(WEBHOOKS_DISABLED).increment(u64::try_from(endpoints).unwrap_or(u64::MAX));
}

/// Records the age of the oldest event that an active webhook endpoint has not received.
pub fn oldest_webhook_delivery(seconds: f64) {
    metrics::gauge!(OLDEST_WEBHOOK_DELIVERY).set(seconds);
}

/// The metrics of one kind of request.
struct Calls {
    count: Counter,
    seconds: Histogram,
}

impl Calls {
    fn of(method: &'static str, route: &'static str, status: u16) -> Self {
        let labels = [("method", method.to_owned()), ("route", route.to_owned()), ("status", label(status))];
        Self {
            count: metrics::counter!("http_requests_total", &labels),
            seconds: metrics::histogram!("http_request_duration_seconds", &labels),
        }
    }
}

/// The label of a status. A 501 has its own, because it is no fault, so that alerts on `5..` do not count it.
fn label(status: u16) -> String {
    match status {
        501 => "not_configured".to_owned(),
        status => status.to_string(),
    }
}

thread_local! {
    /// The request metrics of this thread by method, route and status, cached because the recorder would
    /// compare the labels with the labels of every other metric.
    static ANSWERED: RefCell<HashMap<(&'static str, &'static str, u16), Calls>> = RefCell::default();
}

/// Records an answered request. Methods and routes must be few, because each combination is kept.
pub fn answered(method: &'static str, route: &'static str, status: u16, took: Duration) {
    ANSWERED.with_borrow_mut(|answered| {
        let calls =
            answered.entry((method, route, status)).or_insert_with(|| Calls::of(method, route, status));
        calls.count.increment(1);
        calls.seconds.record(took);
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_501_answer_is_counted_as_not_configured() {
        let shown = Metrics::install().unwrap();
        answered("POST", "/metrics-test", 501, Duration::from_millis(1));
        answered("POST", "/metrics-test", 503, Duration::from_millis(1));
        let shown = shown.render();
        let counted = |status: &str| {
            shown.contains(&format!(
                r#"http_requests_total{{method="POST",route="/metrics-test",status="{status}"}} 1"#
            ))
        };
        assert!(counted("not_configured") && counted("503") && !counted("501"), "{shown}");
    }

    #[test]
    fn repeated_installations_share_the_metrics() {
        let first = Metrics::install().unwrap();
        let second = Metrics::install().unwrap();
        metrics::counter!("metrics_test_total").increment(2);
        metrics::histogram!("metrics_test_seconds").record(0.003);
        second.upkeep();
        for shown in [first.render(), second.render()] {
            assert!(shown.contains("metrics_test_total 2"), "{shown}");
            assert!(shown.contains("metrics_test_seconds_bucket{le=\"0.005\"} 1"), "{shown}");
        }
    }
}
