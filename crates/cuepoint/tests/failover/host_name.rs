//! A host name of the database: an address whose connections lead to the node that it names at the time.

use std::io;
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A TCP proxy before one node at a time; it ends with the process.
pub(crate) struct HostName {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

struct State {
    names: SocketAddr,
    /// Both ends of every connection that was made.
    connections: Vec<[TcpStream; 2]>,
}

impl HostName {
    /// A name of this node.
    pub(crate) fn of(node: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(Mutex::new(State { names: node, connections: Vec::new() }));
        let accepting = Arc::clone(&state);
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                connect(client, &accepting);
            }
        });
        Self { address, state }
    }

    /// The address of the database with this name as the only host.
    pub(crate) fn url(&self) -> String {
        format!("postgres://postgres@{}/postgres", self.address)
    }

    /// Names another node from now on; connections that there are stay where they are.
    pub(crate) fn names(&self, node: SocketAddr) {
        self.state.lock().unwrap().names = node;
    }

    /// Ends the connections that there are.
    pub(crate) fn cut(&self) {
        for end in self.state.lock().unwrap().connections.drain(..).flatten() {
            // It may have ended by itself.
            let _ = end.shutdown(Shutdown::Both);
        }
    }
}

/// Joins a client to the node that is named now; where it refuses, so does the name.
fn connect(client: TcpStream, state: &Mutex<State>) {
    let mut state = state.lock().unwrap();
    let Ok(server) = TcpStream::connect(state.names) else { return };
    let copy = |from: &TcpStream, to: &TcpStream| {
        let (mut from, mut to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        thread::spawn(move || {
            // Both ends are closed in every case.
            let _ = io::copy(&mut from, &mut to);
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
        });
    };
    copy(&client, &server);
    copy(&server, &client);
    state.connections.push([client, server]);
}
