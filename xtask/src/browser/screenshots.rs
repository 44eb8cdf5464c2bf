//! `cargo xtask screenshots`: the pictures of README, taken in the middle of a simulated evening.

use std::fs;

use anyhow::Context;
use cuepoint_demo::evening::{self, Pace};

use super::Tools;
use crate::service::Service;
use crate::workspace::{exit_code, root, target_dir};

/// The folder of the pictures.
const FOLDER: &str = "docs/images";

/// The number of minutes before the pictures: half of the guests have come, and some songs were played.
const MINUTES: u32 = 70;

/// Simulates the evening on a service with a faster clock, and replaces the pictures; returns 1 on failure.
///
/// # Errors
/// If a tool is missing or fails, or the evening does.
pub(crate) fn run() -> anyhow::Result<u8> {
    let tools = Tools::find_or_install()?;
    let pictures = root().join(FOLDER);
    fs::create_dir_all(&pictures).with_context(|| format!("{} cannot be created", pictures.display()))?;
    let settings = [
        ("CUEPOINT__STORAGE__BACKEND", "memory"),
        ("CUEPOINT__SERVER__CLOCK_RATE", "60"),
        ("CUEPOINT__SERVER__PUBLIC_URL", "http://cuepoint.example"),
    ];
    let service = Service::start(&settings, &target_dir()?.join("screenshots.log"))?;
    let evening =
        evening::play_first(MINUTES, service.url(), Pace::OfTheService, &mut |line| println!("{line}"))?;
    let mut program = tools.program("screenshots.js")?;
    program.arg("--results").arg(&pictures);
    program.args(["--url", service.url(), "--code", &evening.code, "--dj", &evening.dj]);
    program.args(["--guest", &evening.guest, "--password", evening.password]);
    let code = exit_code(&mut program)?;
    println!("the pictures are in {}", pictures.display());
    Ok(code)
}
