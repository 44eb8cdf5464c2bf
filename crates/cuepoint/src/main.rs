//! The `cuepoint` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuepoint::cli::run()
}
