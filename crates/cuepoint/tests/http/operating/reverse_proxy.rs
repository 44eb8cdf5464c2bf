//! The service behind nginx with the file in `ops/nginx`. Only its addresses and paths are replaced, and its TLS, which is
//! nginx's own, is left out. `cargo xtask test` leaves these tests out, and says so, where nginx cannot be installed.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;
use socket2::{Domain, Socket, Type};
use tempfile::TempDir;

use crate::harness::{Client, Server, Store, eventually};

const FILE: &str = include_str!("../../../../../ops/nginx/cuepoint.conf");

/// The main file, which includes the file of the service.
const MAIN: &str = "daemon off;\npid FOLDER/pid;\nerror_log FOLDER/main.log;\nevents { worker_connections 4096; }\n\
    http {\n    access_log off;\n    client_body_temp_path FOLDER/body;\n    proxy_temp_path FOLDER/proxy;\n    \
    fastcgi_temp_path FOLDER/fastcgi;\n    uwsgi_temp_path FOLDER/uwsgi;\n    scgi_temp_path FOLDER/scgi;\n    \
    include FOLDER/cuepoint.conf;\n}\n";

/// nginx in front of a service, ended on drop.
struct Nginx {
    process: Child,
    folder: TempDir,
    port: u16,
}

impl Nginx {
    fn before(service: &str) -> Self {
        let folder = TempDir::new().unwrap();
        // The workers run as another user.
        fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let path = folder.path().to_str().unwrap();
        let [port, plain] =
            [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port());
        let lines = FILE.lines().filter(|line| !line.trim().starts_with("ssl_") && !line.contains("[::]"));
        let own = lines.collect::<Vec<_>>().join("\n");
        let own = [
            ("listen 443 ssl http2", format!("listen 127.0.0.1:{port}")),
            ("listen 80", format!("listen 127.0.0.1:{plain}")),
            ("127.0.0.1:8080", service.trim_start_matches("http://").to_owned()),
            ("/var/log/nginx", path.to_owned()),
        ]
        .iter()
        .fold(own, |text, (before, after)| {
            assert!(text.contains(before), "the file has no {before}");
            text.replace(before, after)
        });
        fs::write(folder.path().join("cuepoint.conf"), own).unwrap();
        fs::write(folder.path().join("nginx.conf"), MAIN.replace("FOLDER", path)).unwrap();
        let process = Command::new("nginx")
            .args(["-p", path, "-c", "nginx.conf"])
            .stdin(Stdio::null())
            .spawn()
            .expect("nginx is installed");
        let nginx = Self { process, folder, port };
        eventually("nginx listens", || TcpStream::connect(nginx.address()).ok());
        nginx
    }

    fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    fn client(&self) -> Client {
        Client::new(&format!("http://{}", self.address()))
    }

    /// The status of a call from this address, with these further lines in its head.
    fn status(&self, from: Ipv4Addr, line: &str, headers: &str) -> u16 {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::from((from, 0)).into()).unwrap();
        socket.connect(&self.address().into()).unwrap();
        let mut stream = TcpStream::from(socket);
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        write!(stream, "{line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n").unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer:?}")).parse().unwrap()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // On SIGTERM the master ends its workers, too.
        let sent = Command::new("kill").arg(self.process.id().to_string()).status();
        let _ = sent.and_then(|_| self.process.wait());
    }
}

fn service(keys: &[(&str, &str)]) -> Server {
    Server::configured(Store::Memory, &[&[("server.trusted_proxies", "127.0.0.1")], keys].concat())
}

#[test]
fn calls_heads_and_bodies_pass_through_nginx() {
    let server = service(&[]);
    let nginx = Nginx::before(&server.client().address);
    let client = nginx.client();
    client.outside("GET", "/health/ready").send().data(200);
    let head = client.outside("HEAD", "/openapi.json").send();
    assert!(head.status == 200 && head.text.is_empty(), "{head}");
    assert!(head.header("content-length").unwrap().parse::<u64>().unwrap() > 100_000);
    let guest = client.person(false);
    guest.topup("5");
    assert_eq!(guest.wallet().0, "5.00");
    let large = "x".repeat(70_000);
    client.call("POST", "/auth/login").text(&large).send().refused(413, "payload_too_large");
}

#[test]
fn an_event_passes_through_nginx_at_once() {
    let server = service(&[]);
    let nginx = Nginx::before(&server.client().address);
    let guest = nginx.client().person(false);
    let mut stream = guest.stream("/events/stream", &[]);
    guest.topup("5");
    let event = stream.event_within(Duration::from_secs(2)).expect("the event passes within 2 s");
    assert_eq!(event.event_type, "topup.created");
}

/// Attack API4: evading rate limits with a forged address behind a proxy.
#[test]
fn clients_behind_nginx_have_quotas_of_their_own_and_cannot_forge_an_address() {
    let server = service(&[("rate_limits.enabled", "true"), ("rate_limits.public_per_minute", "2")]);
    let nginx = Nginx::before(&server.client().address);
    let get = "GET /api/v1/settings";
    for number in 0..300_u16 {
        let [high, low] = number.to_be_bytes();
        assert_eq!(nginx.status(Ipv4Addr::new(127, 1, high, low.max(1)), get, ""), 200, "{number}");
    }
    let forged = |number: u8| {
        let headers = format!("X-Forwarded-For: 192.0.2.{number}\r\nX-Real-IP: 192.0.2.{number}\r\n");
        nginx.status(Ipv4Addr::new(127, 2, 0, 1), get, &headers)
    };
    assert_eq!([1, 2, 3, 4].map(forged), [200, 200, 429, 429]);
}

#[test]
fn the_log_of_nginx_has_paths_without_queries() {
    let server = service(&[]);
    let nginx = Nginx::before(&server.client().address);
    nginx.status(
        Ipv4Addr::LOCALHOST,
        "GET /api/v1/djs%3fx?page=hidden-word",
        "Referer: http://x/?hidden-word\r\n",
    );
    drop(server);
    let line = "GET /api/v1/settings?q=hidden-word";
    assert_eq!(nginx.status(Ipv4Addr::LOCALHOST, line, "Referer: http://x/?hidden-word\r\n"), 502);
    let logs = eventually("both calls are logged", || {
        let log = fs::read_to_string(nginx.folder.path().join("cuepoint.log")).ok()?;
        (log.lines().count() >= 2).then_some(log)
    });
    assert!(logs.contains("GET /api/v1/djs%3fx\"") && logs.contains("GET /api/v1/settings"), "{logs}");
    for entry in fs::read_dir(nginx.folder.path()).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap_or_default();
        assert!(!text.contains("hidden-word"), "{text}");
    }
}

/// A service that counts connections and requests, and answers each, or closes the connection instead.
fn counting(answers: bool) -> (String, Arc<[AtomicUsize; 2]>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let counts = Arc::new([const { AtomicUsize::new(0) }; 2]);
    let counted = Arc::clone(&counts);
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            counted[0].fetch_add(1, Ordering::SeqCst);
            let counted = Arc::clone(&counted);
            thread::spawn(move || serve(stream, answers, &counted[1]));
        }
    });
    (address, counts)
}

fn serve(stream: TcpStream, answers: bool, requests: &AtomicUsize) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut length = 0;
        let mut line = String::new();
        while reader.read_line(&mut line).unwrap_or(0) > 0 && line != "\r\n" {
            if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        if line.is_empty() {
            return;
        }
        std::io::copy(&mut reader.by_ref().take(length), &mut std::io::sink()).unwrap();
        requests.fetch_add(1, Ordering::SeqCst);
        if !answers || reader.get_mut().write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").is_err()
        {
            return;
        }
    }
}

#[test]
fn nginx_reuses_connections_to_the_service_and_repeats_no_request() {
    let (address, counts) = counting(true);
    let nginx = Nginx::before(&address);
    for _ in 0..50 {
        assert_eq!(nginx.status(Ipv4Addr::LOCALHOST, "GET /api/v1/settings", ""), 200);
    }
    // Each worker process has connections of its own.
    assert!(counts[0].load(Ordering::SeqCst) <= 4, "{counts:?}");
    assert_eq!(counts[1].load(Ordering::SeqCst), 50);

    let (address, counts) = counting(false);
    let nginx = Nginx::before(&address);
    let client = nginx.client();
    assert_eq!(client.post("/wallet/topups", &json!({"amount": 5})).status, 502);
    assert_eq!(client.call("GET", "/wallet").send().status, 502);
    assert_eq!(counts[1].load(Ordering::SeqCst), 2);
}
