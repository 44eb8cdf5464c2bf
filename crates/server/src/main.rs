//! The binary `cuepoint`.

use std::process::ExitCode;

fn main() -> ExitCode {
    cuepoint_server::cli::run()
}
