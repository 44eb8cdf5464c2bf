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

use crate::body_guard::guarded_body;
use cuepoint_adapters::event_hub::ClientConnection;

/// The time after which unread bytes are more than the server holds of the requests behind the one that it answers.
const UNREAD_FOR: Duration = Duration::from_millis(500);

/// A connection that is closed after being idle for too long.
#[derive(Clone)]
pub struct Connection(Arc<State>);

/// Marks a connection as busy; dropped once the request is answered.
pub(crate) struct Busy(Connection);

struct State {
    socket: TcpStream,
    /// Start of the idle time; `None` during a request, and while a body waits for its next chunk.
    idle_since: Mutex<Option<Instant>>,
    /// Since when received bytes are not read, as far as was asked.
    unread_since: Mutex<Option<Instant>>,
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
        let state = State {
            socket,
            idle_since: Mutex::new(Some(Instant::now())),
            unread_since: Mutex::default(),
            _open: open,
        };
        let state = Arc::new(state);
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
            Ok(0) => true,
            // The end of the connection is not seen behind them.
            Ok(_) => state.unread() >= UNREAD_FOR,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
                state.set_read();
                false
            }
            Err(_) => true,
        }
    }

    fn cut(&self) {
        let Self(state) = self;
        // The connection may be closed already.
        let _ = state.socket.shutdown(Shutdown::Both);
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

    /// How long received bytes have not been read.
    fn unread(&self) -> Duration {
        let mut since = self.unread_since.lock().unwrap_or_else(PoisonError::into_inner);
        since.get_or_insert_with(Instant::now).elapsed()
    }

    fn set_read(&self) {
        *self.unread_since.lock().unwrap_or_else(PoisonError::into_inner) = None;
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
