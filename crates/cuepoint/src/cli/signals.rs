//! The signals that ask the process to stop.

use std::future::pending;

use anyhow::Context;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM and SIGINT, caught from creation on.
pub(crate) struct Signals {
    terminate: Signal,
    interrupt: Signal,
    /// SIGHUP, which only commands on a terminal catch: `nohup` lets a service ignore it.
    hangup: Option<Signal>,
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
            hangup: None,
        })
    }

    /// Starts catching the signals and the end of the terminal, for a command that leaves nothing behind.
    ///
    /// # Errors
    /// When the operating system refuses.
    pub(crate) fn of_terminal() -> anyhow::Result<Self> {
        let hangup = signal(SignalKind::hangup()).context("cannot handle SIGHUP")?;
        Ok(Self { hangup: Some(hangup), ..Self::listen()? })
    }

    /// Waits for the next signal.
    pub(crate) async fn next(&mut self) {
        let hangup = async {
            match &mut self.hangup {
                Some(hangup) => drop(hangup.recv().await),
                None => pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            () = hangup => {}
        }
    }
}
