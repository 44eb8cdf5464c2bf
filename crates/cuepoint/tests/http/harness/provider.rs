//! A provider on loopback: it records its calls, and answers as a test says.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use serde_json::Value;

/// The reply of a provider to a call.
#[derive(Clone)]
pub(crate) enum Reply {
    /// Answers with this status and body.
    Says(u16, String),
    /// Reads the call and closes the connection without an answer.
    HangsUp,
    /// Reads the call and stays silent until a test sets another reply.
    Silent,
}

/// The replies of a provider, and the calls received so far.
struct State {
    now: Mutex<(Reply, Vec<ReceivedRequest>)>,
    changed: Condvar,
}

/// A call as received.
#[derive(Clone, Debug)]
pub(crate) struct ReceivedRequest {
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl ReceivedRequest {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

/// A provider that listens until the test process ends.
pub(crate) struct Provider {
    pub(crate) url: String,
    state: Arc<State>,
}

impl Provider {
    pub(crate) fn new(reply: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/orders?from=cuepoint", listener.local_addr().unwrap());
        let state = Arc::new(State { now: Mutex::new((reply, Vec::new())), changed: Condvar::new() });
        let serving = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let serving = Arc::clone(&serving);
                thread::spawn(move || serve(stream, &serving));
            }
        });
        Self { url, state }
    }

    /// Sets its reply from now on.
    pub(crate) fn answers(&self, reply: Reply) {
        self.state.now.lock().unwrap().0 = reply;
        self.state.changed.notify_all();
    }

    /// The reference in the order of the withdrawal or top-up with this id.
    pub(crate) fn reference_of(&self, id: i64) -> String {
        let orders = self.received().into_iter().map(|received| received.json());
        let order = orders.rev().find(|order| order["id"] == id).unwrap();
        order["reference"].as_str().unwrap().to_owned()
    }

    /// The calls received so far.
    pub(crate) fn received(&self) -> Vec<ReceivedRequest> {
        self.state.now.lock().unwrap().1.clone()
    }
}

fn serve(mut stream: TcpStream, state: &State) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut headers = BTreeMap::new();
    let mut line = String::new();
    while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
        if let Some((name, value)) = line.trim_end().split_once(": ") {
            headers.insert(name.to_lowercase(), value.to_owned());
        }
        line.clear();
    }
    let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    // A client killed during the call sends no more.
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let mut now = state.now.lock().unwrap();
    now.1.push(ReceivedRequest { headers, body: String::from_utf8(body).unwrap() });
    let now = state.changed.wait_while(now, |(reply, _)| matches!(reply, Reply::Silent)).unwrap();
    let reply = now.0.clone();
    drop(now);
    if let Reply::Says(status, body) = &reply {
        let length = body.len();
        let _ = write!(
            stream,
            "HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\
             Connection: close\r\n\r\n{body}"
        );
    }
}
