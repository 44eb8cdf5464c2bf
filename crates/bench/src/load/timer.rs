//! A timer that ends the wait for events, because the time-outs of the wait itself are whole milliseconds.

use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, Instant};

use anyhow::Context;
use mio::unix::SourceFd;
use mio::{Interest, Poll, Token};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};

/// A timer of the kernel.
pub(super) struct Timer {
    timer: TimerFd,
    /// The time for which it was set last.
    due: Option<Instant>,
}

impl Timer {
    /// A timer whose events have this token.
    pub(super) fn new(poll: &Poll, token: Token) -> anyhow::Result<Self> {
        let flags = TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC;
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, flags).context("cannot create a timer")?;
        let descriptor = timer.as_fd().as_raw_fd();
        poll.registry().register(&mut SourceFd(&descriptor), token, Interest::READABLE)?;
        Ok(Self { timer, due: None })
    }

    /// Makes an event at this time, or at once if it has passed.
    pub(super) fn set(&mut self, due: Instant) -> anyhow::Result<()> {
        if self.due == Some(due) {
            return Ok(());
        }
        // Zero would disarm it.
        let wait = due.saturating_duration_since(Instant::now()).max(Duration::from_nanos(1));
        let expiration = Expiration::OneShot(TimeSpec::from_duration(wait));
        self.timer.set(expiration, TimerSetTimeFlags::empty()).context("cannot set the timer")?;
        self.due = Some(due);
        Ok(())
    }
}
