//! What the server tells systemd, by the datagram socket in `$NOTIFY_SOCKET`: that it is ready, why it is not, that it
//! stops, and that every web worker still takes turns.

use std::time::Duration;

use cuepoint_domain::application::Readiness;
use cuepoint_transport::worker_pulse::WorkerPulse;
use sd_notify::NotifyState;
use tokio::time::{MissedTickBehavior, interval};

/// The interval of reports without a watchdog.
const INTERVAL: Duration = Duration::from_secs(10);
/// The longest interval of reports with a watchdog.
const LONGEST: Duration = Duration::from_secs(5);

/// Reports to systemd until it is dropped; does nothing if systemd did not start the server.
///
/// The first report of a ready service completes its start. With a watchdog, each report says that the server is alive,
/// unless a web worker is stuck: systemd restarts the server after the time of the watchdog.
pub(super) async fn report(readiness: Readiness, pulse: WorkerPulse) {
    if std::env::var_os("NOTIFY_SOCKET").is_none() {
        return;
    }
    // Four reports within the time of the watchdog: a late one restarts nothing.
    let watchdog = sd_notify::watchdog_enabled().map(|time| time.div_f64(4.0).min(LONGEST));
    let every = watchdog.unwrap_or(INTERVAL).max(Duration::from_millis(1));
    let mut turns = interval(every);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut is_started, mut told) = (false, None);
    loop {
        turns.tick().await;
        if watchdog.is_some() && pulse.silence() < every.saturating_add(LONGEST) {
            send(&[NotifyState::Watchdog]);
        }
        let checked = readiness.check().await;
        if !is_started && checked.is_ok() {
            send(&[NotifyState::Ready]);
            is_started = true;
        }
        let status = checked.map_or_else(|error| format!("not ready: {error}"), |()| "ready".to_owned());
        if told.as_ref() != Some(&status) {
            send(&[NotifyState::Status(&status)]);
            told = Some(status);
        }
    }
}

/// Says that the server stops.
pub(super) fn stopping() {
    send(&[NotifyState::Stopping, NotifyState::Status("stopping")]);
}

fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::debug!(%error, "systemd was not notified");
    }
}
