//! A connection for concurrent reads: statements are pipelined, and those issued together are sent together.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::connect::cluster::AdmittedConnection;
use crate::connect::connection::Connector;
use crate::connect::failure::DatabaseFailure;

/// Time without a reply after which a cancelled read casts doubt on the connection.
const SILENCE: Duration = Duration::from_secs(1);

/// A connection that is opened when first needed, and reopened after it was given up.
pub(crate) struct SharedConnection {
    connector: Connector,
    open: Mutex<Option<Arc<AdmittedConnection>>>,
    /// Held while the connection is being opened, so that only one task opens it.
    opening: tokio::sync::Mutex<()>,
}

impl SharedConnection {
    pub(crate) fn new(connector: Connector) -> Self {
        Self { connector, open: Mutex::default(), opening: tokio::sync::Mutex::default() }
    }

    /// Returns the connection, which lives on the runtime of the task that first asked for it.
    pub(crate) async fn get(&self) -> Result<ConnectionGuard<'_>, DatabaseFailure> {
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

    fn used(&self, connection: Arc<AdmittedConnection>) -> ConnectionGuard<'_> {
        ConnectionGuard { of: self, connection, since: Instant::now(), done: false }
    }

    /// Gives a connection up: current reads over it complete, and the next one opens another.
    fn give_up(&self, given_up: &Arc<AdmittedConnection>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.as_ref().is_some_and(|open| Arc::ptr_eq(open, given_up)) {
            *open = None;
        }
    }

    /// Gives up the open connection, if any.
    pub(crate) fn close(&self) {
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn opened(&self) -> Option<Arc<AdmittedConnection>> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner).clone();
        open.filter(|open| open.is_current(self.connector.cluster()))
    }
}

/// A connection in use for a read. It is given up if the read is cancelled after a while, since it may no
/// longer answer.
pub(crate) struct ConnectionGuard<'a> {
    of: &'a SharedConnection,
    connection: Arc<AdmittedConnection>,
    since: Instant,
    done: bool,
}

impl ConnectionGuard<'_> {
    pub(crate) fn connection(&self) -> &AdmittedConnection {
        &self.connection
    }

    /// Records that a reply arrived, and whether it casts doubt on the connection.
    pub(crate) fn done(mut self, in_doubt: bool) {
        self.done = true;
        if in_doubt {
            self.of.give_up(&self.connection);
        }
    }
}

impl Drop for ConnectionGuard<'_> {
    fn drop(&mut self) {
        if !self.done && self.since.elapsed() >= SILENCE {
            self.of.give_up(&self.connection);
        }
    }
}
