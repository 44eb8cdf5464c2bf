//! A name server on loopback that knows some names, and is silent about others.

use std::collections::BTreeSet;
use std::net::UdpSocket;
use std::sync::{Arc, Mutex};
use std::thread;

/// The length of a header, in bytes.
const HEADER: usize = 12;
/// The type of a question for IPv4 addresses.
const A: [u8; 2] = [0, 1];

/// A name server that listens until the test process ends. Names below `known.example` have the address 127.0.0.1,
/// which may not be kept.
pub(crate) struct NameServer {
    /// Its address and port.
    pub(crate) address: String,
    queried: Arc<Mutex<BTreeSet<String>>>,
}

impl NameServer {
    pub(crate) fn new() -> Self {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap().to_string();
        let queried = Arc::<Mutex<BTreeSet<String>>>::default();
        let noted = Arc::clone(&queried);
        thread::spawn(move || {
            let mut datagram = [0; 512];
            while let Ok((length, client)) = socket.recv_from(&mut datagram) {
                let (name, end) = question(&datagram[..length]);
                let is_known = name.ends_with("known.example");
                noted.lock().unwrap().insert(name);
                if is_known {
                    socket.send_to(&answer(&datagram[..end]), client).unwrap();
                }
            }
        });
        Self { address, queried }
    }

    /// The names that were queried so far.
    pub(crate) fn queried(&self) -> BTreeSet<String> {
        self.queried.lock().unwrap().clone()
    }
}

/// The name of a query in lower case, and the end of its question.
fn question(query: &[u8]) -> (String, usize) {
    let (mut labels, mut at) = (Vec::new(), HEADER);
    while query[at] != 0 {
        let end = at + 1 + usize::from(query[at]);
        labels.push(String::from_utf8(query[at + 1..end].to_vec()).unwrap().to_lowercase());
        at = end;
    }
    (labels.join("."), at + 5)
}

/// The answer to a query that ends with its question: the address, or no record for other types.
fn answer(query: &[u8]) -> Vec<u8> {
    let is_ipv4 = query[query.len() - 4..query.len() - 2] == A;
    let mut answer = query.to_vec();
    // A response of a recursive server, with one question and at most one answer.
    answer[2..HEADER].copy_from_slice(&[0x81, 0x80, 0, 1, 0, u8::from(is_ipv4), 0, 0, 0, 0]);
    if is_ipv4 {
        // The name of the question, A, IN, no time to live, four bytes.
        answer.extend([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4, 127, 0, 0, 1]);
    }
    answer
}
