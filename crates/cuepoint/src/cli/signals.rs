//! The signals that ask the process to stop.

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, caught from creation on.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// Starts catching the signals.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate()).context("cannot handle SIGTERM")?,
            interrupt: signal(SignalKind::interrupt()).context("cannot handle SIGINT")?,
        })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
