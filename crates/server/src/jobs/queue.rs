//! What is done after the answer was given, so that the answer tells nothing of it: a bounded queue, and who works it
//! off.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use cuepoint_domain::ids::UserId;
use cuepoint_domain::ports::Unavailable;
use cuepoint_domain::session::Visitor;
use cuepoint_domain::text::Email;
use futures_util::{StreamExt, stream};
use tokio::sync::{mpsc, watch};

use crate::app::App;

/// The most errands that wait.
const MOST_WAITING: usize = 1_000;
/// How many are done at once: a mail server that hangs holds one up for a few seconds.
const AT_ONCE: usize = 8;

/// An errand; it prints without the address.
#[derive(Clone, PartialEq, Eq)]
pub enum Errand {
    /// Somebody says that they forgot the password of whoever has this address.
    Forgot {
        /// The address.
        email: Email,
        /// Who says so.
        visitor: Visitor,
    },
    /// Somebody is to be told that their password was changed.
    TellPasswordChanged(UserId),
}

impl fmt::Debug for Errand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Forgot { .. } => f.write_str("Forgot([hidden])"),
            Self::TellPasswordChanged(user) => f.debug_tuple("TellPasswordChanged").field(user).finish(),
        }
    }
}

/// The queue.
#[derive(Debug)]
pub struct Errands {
    queue: mpsc::Sender<Errand>,
    waiting: Mutex<Option<mpsc::Receiver<Errand>>>,
}

impl Default for Errands {
    fn default() -> Self {
        let (queue, waiting) = mpsc::channel(MOST_WAITING);
        Self { queue, waiting: Mutex::new(Some(waiting)) }
    }
}

impl Errands {
    /// Leaves an errand to be done soon.
    ///
    /// # Errors
    /// [`Unavailable`] when too many wait, or the service stops.
    pub fn leave(&self, errand: Errand) -> Result<(), Unavailable> {
        self.queue.try_send(errand).map_err(|_| Unavailable::new("too many errands wait to be done"))
    }

    fn take(&self) -> Option<mpsc::Receiver<Errand>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Does errands until it is stopped; those that were left before are done then too.
pub(crate) async fn run(app: Arc<App>, stopped: watch::Receiver<bool>) {
    let Some(waiting) = app.errands.take() else { return };
    let errands = stream::unfold((waiting, stopped), |(mut waiting, mut stopped)| async {
        let errand = tokio::select! {
            biased;
            errand = waiting.recv() => errand,
            () = told(&mut stopped) => {
                waiting.close();
                waiting.recv().await
            }
        };
        errand.map(|errand| (errand, (waiting, stopped)))
    });
    errands.for_each_concurrent(AT_ONCE, |errand| carry_out(&app, errand)).await;
}

async fn told(stopped: &mut watch::Receiver<bool>) {
    // Who could tell is gone, or told.
    let _ = stopped.wait_for(|stopped| *stopped).await;
}

async fn carry_out(app: &App, errand: Errand) {
    let passwords = &app.services.passwords;
    let (what, done) = match errand {
        Errand::Forgot { email, visitor } => ("a password reset", passwords.forgot(&email, visitor).await),
        Errand::TellPasswordChanged(user) => ("a changed password", passwords.tell(user).await),
    };
    if let Err(unavailable) = done {
        tracing::warn!(%unavailable, "a message about {what} was not sent");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_errand_prints_no_address() {
        let email = Email::new("ada@example.com").unwrap();
        let errand = Errand::Forgot { email, visitor: Visitor::default() };
        assert_eq!(format!("{errand:?}"), "Forgot([hidden])");
    }

    #[test]
    fn more_errands_than_fit_are_refused_alike() {
        let errands = Errands::default();
        let errand = || Errand::TellPasswordChanged(UserId::new(1).unwrap());
        for _ in 0..MOST_WAITING {
            errands.leave(errand()).unwrap();
        }
        assert!(errands.leave(errand()).is_err());
        assert!(errands.take().is_some() && errands.take().is_none());
    }
}
