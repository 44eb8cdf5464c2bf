//! `cargo xtask demo`: an evening of a DJ and twenty guests, against a running service.

use cuepoint_demo::evening::{self, Pace};

/// The options of the command.
#[derive(clap::Args, Debug)]
pub(crate) struct Arguments {
    /// Instead of an hour and a half in two minutes of the real clock, simulate four hours on a service with a faster
    /// clock: `CUEPOINT_ENV=test CUEPOINT__SERVER__CLOCK_RATE=60 cargo run`.
    #[arg(long)]
    evening: bool,
    /// The service.
    #[arg(long, default_value = "http://127.0.0.1:8080")]
    url: String,
}

/// Plays the evening, and prints what happens.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let pace = if arguments.evening { Pace::OfTheService } else { Pace::Fast };
    evening::play(&arguments.url, pace, &mut |line| println!("{line}"))?;
    Ok(0)
}
