//! A proxy in front of a cluster that records the statements that servers prepare.
//!
//! The application name of a session distinguishes servers from tests. The cluster could list statements
//! itself, but neither for one program only nor with the parameter types, without which some statements
//! cannot be prepared again.

use std::collections::BTreeSet;
use std::io::{self, BufReader, BufWriter, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use anyhow::Context;

use super::message::{Prepared, opening, prepared, read, renamed};

/// The application name of servers.
const SERVER: &str = "cuepoint";
/// The schema that only the driver's own type look-ups mention.
const CATALOGUE: &str = "pg_catalog.";

/// A proxy that runs until the process ends.
pub(super) struct Recorder {
    port: u16,
    statements: Arc<Mutex<BTreeSet<Prepared>>>,
}

impl Recorder {
    /// Listens on a free port of 127.0.0.1 for the cluster at another port.
    pub(super) fn start(cluster: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).context("127.0.0.1 has no free port")?;
        let port = listener.local_addr()?.port();
        let statements = Arc::new(Mutex::new(BTreeSet::new()));
        let noted = Arc::clone(&statements);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let noted = Arc::clone(&noted);
                // A broken connection is for its test to judge.
                thread::spawn(move || serve(client, cluster, &noted));
            }
        });
        Ok(Self { port, statements })
    }

    /// The port on which it listens.
    pub(super) const fn port(&self) -> u16 {
        self.port
    }

    /// The statements that servers have prepared so far.
    pub(super) fn statements(&self) -> BTreeSet<Prepared> {
        self.statements.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(client: TcpStream, cluster: u16, noted: &Mutex<BTreeSet<Prepared>>) -> io::Result<()> {
    let server = TcpStream::connect((Ipv4Addr::LOCALHOST, cluster))?;
    client.set_nodelay(true)?;
    server.set_nodelay(true)?;
    let (mut answers, mut back) = (server.try_clone()?, client.try_clone()?);
    thread::spawn(move || {
        // The client gets no further data, whether the server closed the connection or it broke.
        let _ = io::copy(&mut answers, &mut back);
        back.shutdown(Shutdown::Both)
    });
    let passed = pass_on(&client, &server, noted);
    server.shutdown(Shutdown::Write)?;
    passed
}

/// Forwards the client's messages until it disconnects, and records the statements that it prepares.
fn pass_on(client: &TcpStream, server: &TcpStream, noted: &Mutex<BTreeSet<Prepared>>) -> io::Result<()> {
    let (mut input, mut output) = (BufReader::new(client), BufWriter::new(server));
    let mut name = loop {
        let Some(message) = read(&mut input, 0)? else { return Ok(()) };
        output.write_all(&message)?;
        output.flush()?;
        if let Some(name) = opening(&message) {
            break name;
        }
    };
    while let Some(message) = read(&mut input, 1)? {
        let is_noted = |of: &Prepared| of.is_about_rows() && !of.sql.contains(CATALOGUE) && name == SERVER;
        if let Some(statement) = prepared(&message).filter(is_noted) {
            noted.lock().unwrap_or_else(PoisonError::into_inner).insert(statement);
        }
        name = renamed(&message).unwrap_or(name);
        output.write_all(&message)?;
        if input.buffer().is_empty() {
            output.flush()?;
        }
    }
    Ok(())
}
