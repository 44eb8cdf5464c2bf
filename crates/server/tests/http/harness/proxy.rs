//! A TCP proxy whose traffic can be cut or stopped.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// What becomes of the bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Traffic {
    /// They go on.
    Flows,
    /// Connections end, and new ones are ended at once.
    Cut,
    /// Nothing is said any more, and connections stay.
    Stuck,
    /// All is well until a COMMIT comes: it is lost, and everything is cut.
    CutBeforeCommit,
    /// All is well until a COMMIT comes: it arrives, its answer is lost, and everything is cut.
    CutAfterCommit,
}

/// A proxy before one address; it ends with the process.
pub(crate) struct Proxy {
    address: SocketAddr,
    state: Arc<State>,
}

struct State {
    traffic: Mutex<Traffic>,
    changed: Condvar,
}

impl State {
    fn set(&self, traffic: Traffic) {
        *self.traffic.lock().unwrap() = traffic;
        self.changed.notify_all();
    }

    /// What becomes of bytes now, after waiting as long as they are stuck.
    fn unstuck(&self) -> Traffic {
        let traffic = self.traffic.lock().unwrap();
        *self.changed.wait_while(traffic, |traffic| *traffic == Traffic::Stuck).unwrap()
    }
}

impl Proxy {
    pub(crate) fn start(target: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State { traffic: Mutex::new(Traffic::Flows), changed: Condvar::new() });
        let (target, accepting) = (target.to_owned(), Arc::clone(&state));
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let (target, state) = (target.clone(), Arc::clone(&accepting));
                thread::spawn(move || serve(&client, &target, &state));
            }
        });
        Self { address, state }
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    pub(crate) fn set(&self, traffic: Traffic) {
        self.state.set(traffic);
    }
}

fn serve(client: &TcpStream, target: &str, state: &Arc<State>) {
    if state.unstuck() == Traffic::Cut {
        let _ = client.shutdown(Shutdown::Both);
        return;
    }
    let Ok(server) = TcpStream::connect(target) else { return };
    let commits = AtomicBool::new(false);
    let asked = |bytes: &[u8]| {
        if bytes.windows(7).any(|window| window == b"COMMIT\0") {
            match state.unstuck() {
                Traffic::CutBeforeCommit => state.set(Traffic::Cut),
                Traffic::CutAfterCommit => commits.store(true, Ordering::SeqCst),
                _ => {}
            }
        }
    };
    let answered = |_: &[u8]| {
        if commits.load(Ordering::SeqCst) {
            state.set(Traffic::Cut);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| copy(client, &server, state, asked));
        scope.spawn(|| copy(&server, client, state, answered));
    });
}

/// Copies until one side ends, then ends both; `look` sees what came before it goes on.
fn copy(mut from: &TcpStream, mut to: &TcpStream, state: &State, look: impl Fn(&[u8])) {
    // The traffic is looked at this often while nothing comes.
    from.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let mut buffer = [0; 16_384];
    loop {
        if state.unstuck() == Traffic::Cut {
            break;
        }
        let count = match from.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => continue,
            Err(_) => break,
        };
        look(&buffer[..count]);
        if state.unstuck() == Traffic::Cut || to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    // The other side may be gone already.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
