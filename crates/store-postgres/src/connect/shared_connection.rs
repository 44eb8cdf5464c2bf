//! A connection that several callers read over at once: each statement is sent without waiting for the answer to the one
//! before, and those that are asked in one go travel in one.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use diesel_async::AsyncPgConnection;
use tokio::time::Instant;

use crate::connect::cluster::AdmittedConnection;
use crate::connect::connection::Connector;
use crate::connect::failure::DatabaseFailure;

/// How long a connection may be silent before a caller who goes away leaves it in doubt.
const SILENCE: Duration = Duration::from_secs(1);

/// A connection that is opened when it is first needed, and anew after it was given up.
pub(crate) struct SharedConnection {
    connector: Connector,
    open: Mutex<Option<Arc<AdmittedConnection>>>,
    /// Held by who opens it, so that nobody else does meanwhile.
    opening: tokio::sync::Mutex<()>,
}

impl SharedConnection {
    pub(crate) fn new(connector: Connector) -> Self {
        Self { connector, open: Mutex::default(), opening: tokio::sync::Mutex::default() }
    }

    /// The connection, which lives on the runtime of who asked for it first.
    pub(crate) async fn get(&self) -> Result<Used<'_>, DatabaseFailure> {
        if let Some(open) = self.opened() {
            return Ok(self.used(open));
        }
        let _turn = self.opening.lock().await;
        if let Some(open) = self.opened() {
            return Ok(self.used(open));
        }
        let opened = Arc::new(self.connector.open().await?);
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&opened));
        Ok(self.used(opened))
    }

    fn used(&self, connection: Arc<AdmittedConnection>) -> Used<'_> {
        Used { of: self, connection, since: Instant::now(), done: false }
    }

    /// Gives a connection up: who still reads over it does so to the end, and the next one opens another.
    fn give_up(&self, given_up: &Arc<AdmittedConnection>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_some_and(|open| Arc::ptr_eq(open, given_up)) {
            *open = None;
        }
    }

    /// Gives up whichever connection there is.
    pub(crate) fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn opened(&self) -> Option<Arc<AdmittedConnection>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        open.filter(|open| open.is_current(self.connector.cluster()))
    }
}

/// A connection that somebody reads over. It is given up where that is broken off after a while: nobody knows then whether it
/// still answers.
pub(crate) struct Used<'a> {
    of: &'a SharedConnection,
    connection: Arc<AdmittedConnection>,
    since: Instant,
    done: bool,
}

impl Used<'_> {
    pub(crate) fn connection(&self) -> &AsyncPgConnection {
        &self.connection
    }

    /// Says that there was an answer, and whether it casts doubt on the connection.
    pub(crate) fn done(mut self, in_doubt: bool) {
        self.done = true;
        if in_doubt {
            self.of.give_up(&self.connection);
        }
    }
}

impl Drop for Used<'_> {
    fn drop(&mut self) {
        if !self.done && self.since.elapsed() >= SILENCE {
            self.of.give_up(&self.connection);
        }
    }
}
