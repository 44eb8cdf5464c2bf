//! What the server tells systemd.

use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use crate::harness::{Server, Store};

on_one_store!(the_server_tells_systemd_that_it_is_ready_alive_and_stopping);

/// The socket that stands for systemd's.
struct Systemd {
    socket: UnixDatagram,
    _folder: tempfile::TempDir,
}

impl Systemd {
    /// The next message with this beginning; others are passed over.
    fn next(&self, beginning: &str) -> String {
        let end = Instant::now() + Duration::from_secs(60);
        while Instant::now() < end {
            let mut bytes = [0; 1_024];
            let Ok(size) = self.socket.recv(&mut bytes) else { continue };
            let text = String::from_utf8_lossy(&bytes[..size]).into_owned();
            if let Some(line) = text.lines().find(|line| line.starts_with(beginning)) {
                return line.to_owned();
            }
        }
        panic!("systemd was never told {beginning}");
    }
}

fn the_server_tells_systemd_that_it_is_ready_alive_and_stopping(store: Store) {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let systemd = Systemd { socket, _folder: folder };
    let path = path.to_str().unwrap();
    let mut server = Server::configured(store, &[("NOTIFY_SOCKET", path), ("WATCHDOG_USEC", "2000000")]);
    assert_eq!(systemd.next("READY="), "READY=1");
    assert_eq!(systemd.next("STATUS="), "STATUS=ready");
    for _ in 0..3 {
        assert_eq!(systemd.next("WATCHDOG="), "WATCHDOG=1");
    }
    server.signal("TERM");
    assert_eq!(systemd.next("STOPPING="), "STOPPING=1");
    assert!(server.ended().success());
}
