//! A process that prints its address, whatever program it is.

use std::io::{self, BufRead, BufReader};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use super::server::listening_address;

/// A process that listens, killed on drop.
pub(crate) struct Listening {
    pub(crate) child: Child,
    /// The rest of its line about its address.
    pub(crate) address: String,
    /// The lines that it printed until it listened, on standard output or standard error.
    pub(crate) printed: Vec<String>,
    /// All lines so far.
    said: Arc<Mutex<Vec<String>>>,
}

impl Listening {
    /// Starts a process, and waits until it listens.
    pub(crate) fn start(mut command: Command) -> Self {
        let (output, writer) = io::pipe().unwrap();
        let mut child = command.stdout(writer.try_clone().unwrap()).stderr(writer).spawn().unwrap();
        let shown = format!("{command:?}");
        let (told, lines) = mpsc::channel();
        let said = Arc::default();
        let kept: Arc<Mutex<Vec<String>>> = Arc::clone(&said);
        // Reads on after the address, so that the process can go on printing.
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                kept.lock().unwrap().push(line.clone());
                // The receiver is gone once the process listens.
                let _ = told.send(line);
            }
        });
        // It holds the writing ends of the pipe.
        drop(command);
        let mut printed = Vec::new();
        let address = lines.iter().find_map(|line| {
            let address = listening_address(&line).map(str::to_owned);
            printed.push(line);
            address
        });
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{shown} does not start: {}", printed.join("\n"))
        };
        Self { child, address, printed, said }
    }

    /// The lines that it has printed so far.
    pub(crate) fn said(&self) -> Vec<String> {
        self.said.lock().unwrap().clone()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
