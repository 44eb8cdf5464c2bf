//! A TCP proxy that can cut or stall its traffic.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Duration;

/// The treatment of traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Traffic {
    /// Forwards it.
    Flows,
    /// Closes connections, new ones at once.
    Cut,
    /// Stalls it while connections stay open.
    Stuck,
    /// Forwards it until a COMMIT, which is dropped, then cuts everything.
    CutBeforeCommit,
    /// Forwards it until a COMMIT, which is delivered while its answer is dropped, then cuts everything.
    CutAfterCommit,
    /// Forwards it, and cuts connections that ask for notifications.
    WithoutNotifications,
}

/// A proxy in front of one address; it ends with the process.
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

    /// The current treatment, after waiting until it is no longer stuck.
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
    let inspect = |bytes: &[u8]| {
        if state.unstuck() == Traffic::WithoutNotifications
            && bytes.windows(7).any(|window| window == b"LISTEN ")
        {
            let _ = client.shutdown(Shutdown::Both);
        }
        if bytes.windows(7).any(|window| window == b"COMMIT\0") {
            match state.unstuck() {
                Traffic::CutBeforeCommit => state.set(Traffic::Cut),
                Traffic::CutAfterCommit => commits.store(true, Ordering::SeqCst),
                _ => {}
            }
        }
    };
    // The replies to writes that came with COMMIT are before its own.
    let answered = |bytes: &[u8]| {
        if commits.load(Ordering::SeqCst) && bytes.windows(7).any(|window| window == b"COMMIT\0") {
            state.set(Traffic::Cut);
        }
    };
    thread::scope(|scope| {
        scope.spawn(|| copy(client, &server, state, inspect));
        scope.spawn(|| copy(&server, client, state, answered));
    });
}

/// Copies until one side closes, then closes both; `look` inspects the bytes before they are forwarded.
fn copy(mut from: &TcpStream, mut to: &TcpStream, state: &State, look: impl Fn(&[u8])) {
    // The interval of checking the treatment while nothing arrives.
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
    // The other side may be closed already.
    let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
}
