//! A process that prints its address, whatever program it is.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStdout, Command, Stdio};

use super::completed;
use super::server::LISTENING;

/// A process that listens, killed on drop.
pub(crate) struct Listening {
    pub(crate) child: Child,
    /// The rest of its line about its address.
    pub(crate) address: String,
    /// The lines that it printed until it listened.
    pub(crate) printed: Vec<String>,
    /// Open, so that the process can go on printing.
    _output: BufReader<ChildStdout>,
}

impl Listening {
    /// Starts a process, and waits until it listens.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut printed = Vec::new();
        let address = output.by_ref().lines().map(Result::unwrap).find_map(|line| {
            let address = line.strip_prefix(LISTENING).map(str::to_owned);
            printed.push(line);
            address
        });
        let Some(address) = address else {
            let _ = child.kill();
            let _ = child.wait();
            let shown = format!("{command:?}");
            panic!("{shown} does not start: {}", completed(command).1)
        };
        Self { child, address, printed, _output: output }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
