//! Limits on how long a connection may be idle.
//!
//! The web server times the first head of a connection and the silence after an answer, but neither a later
//! head that arrives byte by byte, nor an answer that the client does not read.

use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpStream};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use actix_web::body::BoxBody;
use tokio::sync::oneshot;
use tokio::time::{Instant, timeout};

use crate::adapters::event_hub::ClientConnection;
use crate::http::transport::body_guard::guarded_body;

/// A connection that is closed after being idle for too long.
#[derive(Clone)]
pub(crate) struct Connection(Arc<State>);

/// Marks a connection as busy; dropped once the request is answered.
pub(crate) struct Busy(Connection);

struct State {
    socket: TcpStream,
    /// Start of the idle time; `None` during a request, and while a body waits for its next chunk.
    idle_since: Mutex<Option<Instant>>,
    /// Dropped with the connection.
    _open: oneshot::Sender<()>,
}

impl Connection {
    /// Watches a connection on this worker.
    ///
    /// # Errors
    /// When the process has run out of file descriptors.
    pub(crate) fn watched(stream: &impl AsFd, patience: Duration) -> io::Result<Self> {
        let socket = TcpStream::from(stream.as_fd().try_clone_to_owned()?);
        let (open, closed) = oneshot::channel();
        let state = Arc::new(State { socket, idle_since: Mutex::new(Some(Instant::now())), _open: open });
        actix_web::rt::spawn(watch(Arc::downgrade(&state), closed, patience));
        Ok(Self(state))
    }

    /// Marks the connection as busy with a request.
    #[must_use]
    pub(crate) fn busy(&self) -> Busy {
        self.0.set(None);
        Busy(self.clone())
    }

    /// The response body; the connection counts as idle only while the client does not read a chunk of it.
    pub(crate) fn timed_by(self, answer: BoxBody) -> BoxBody {
        // A chunk is polled once the previous one has been sent.
        guarded_body(answer, move |polled| {
            self.0.set(if polled.is_pending() { None } else { Some(Instant::now()) });
        })
    }
}

impl ClientConnection for Connection {
    fn is_abandoned(&self) -> bool {
        let Self(state) = self;
        // The socket does not block.
        match state.socket.peek(&mut [0]) {
            Ok(read) => read == 0,
            Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
        }
    }

    fn cut(&self) {
        let Self(state) = self;
        // The connection may be closed already.
        let _ = state.socket.shutdown(Shutdown::Both);
    }
}

/// A connection that could not be watched counts as open.
impl ClientConnection for Option<Connection> {
    fn is_abandoned(&self) -> bool {
        self.as_ref().is_some_and(ClientConnection::is_abandoned)
    }

    fn cut(&self) {
        if let Some(connection) = self {
            connection.cut();
        }
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        let Self(Connection(state)) = self;
        state.set(Some(Instant::now()));
    }
}

impl State {
    fn set(&self, idle_since: Option<Instant>) {
        *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner) = idle_since;
    }

    fn idle(&self) -> Option<Duration> {
        let idle_since = *self.idle_since.lock().unwrap_or_else(PoisonError::into_inner);
        idle_since.map(|since| since.elapsed())
    }
}

async fn watch(state: Weak<State>, mut closed: oneshot::Receiver<()>, patience: Duration) {
    let mut wait = patience;
    while timeout(wait, &mut closed).await.is_err() {
        let Some(state) = state.upgrade() else { return };
        wait = state.idle().map_or(patience, |idle| patience.saturating_sub(idle));
        if wait.is_zero() {
            // The connection may be closed already.
            let _ = state.socket.shutdown(Shutdown::Both);
            return;
        }
    }
}
