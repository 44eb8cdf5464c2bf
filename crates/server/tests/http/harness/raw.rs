//! Bytes over a socket, for what a client library would not send.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Sends these bytes and answers with all that comes back until the server closes; the request must ask for that.
pub(crate) fn exchange(address: &str, request: &[u8]) -> String {
    let host = address.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(request).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}
