//! `cargo xtask fuzz`: searches for inputs that violate a property of `crates/fuzz`, with libFuzzer on the
//! stable toolchain.

use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;

use anyhow::{Context, bail, ensure};

use crate::workspace::{cargo, exit_code, root, target_dir};

/// The seeds of the targets, in a folder for each.
const CORPUS: &str = "crates/fuzz/corpus";
/// The maximum length of an input in bytes.
const MAX_LENGTH: usize = 4_096;
/// The compiler wrapper that instruments the workspace's own crates for coverage.
const RUSTC: &str = "xtask/fuzz/rustc";

/// The targets and the duration of a search.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The only target; all by default.
    target: Option<String>,
    /// Duration of the whole run, in seconds.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..))]
    seconds: u64,
}

/// Runs one target or all, one on each processor, and returns 1 if a target fails.
pub(crate) fn run(arguments: &Arguments) -> anyhow::Result<u8> {
    let mut targets = targets()?;
    if let Some(target) = &arguments.target {
        ensure!(targets.contains(target), "there is no target `{target}`, only {}", targets.join(", "));
        targets.retain(|known| known == target);
    }
    let fuzzer = Fuzzer::build()?;
    // A search uses one processor.
    let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let batches = targets.len().div_ceil(processors);
    let share = arguments.seconds.checked_div(u64::try_from(batches)?).unwrap_or(0).max(1);
    let mut failed = Vec::new();
    for batch in targets.chunks(processors) {
        let searches = thread::scope(|scope| {
            let started: Vec<_> =
                batch.iter().map(|target| (target, scope.spawn(|| fuzzer.run(target, share)))).collect();
            started.into_iter().map(|(target, search)| (target, search.join())).collect::<Vec<_>>()
        });
        for (target, outcome) in searches {
            let Ok(output) = outcome else { bail!("a search panicked") };
            let Output { status, stdout, stderr } = output?;
            println!("\n--- {target}, {share} s ---");
            print!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
            if !status.success() {
                failed.push(target);
            }
        }
    }
    for target in &failed {
        eprintln!(
            "xtask fuzz: {target} fails on the newest file in {}; fix it, and add the file to {CORPUS}/{target}/ \
             under a descriptive name, so that every test run replays it",
            fuzzer.found(target).display()
        );
    }
    Ok(u8::from(!failed.is_empty()))
}

/// The names of all targets, taken from the folders of their seeds.
fn targets() -> anyhow::Result<Vec<String>> {
    let folders = fs::read_dir(root().join(CORPUS)).with_context(|| format!("{CORPUS} cannot be read"))?;
    let mut names: Vec<String> =
        folders.flatten().filter_map(|folder| folder.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

struct Fuzzer {
    program: PathBuf,
    /// The output of the fuzzer: a corpus and the failing inputs, by target.
    folder: PathBuf,
}

impl Fuzzer {
    /// Builds the fuzzer with coverage, next to the ordinary build, with which it shares its dependencies.
    fn build() -> anyhow::Result<Self> {
        let target = target_dir()?;
        let mut build = cargo();
        build
            .args("build --locked --package cuepoint-fuzz --features libfuzzer --bin fuzz".split(' '))
            .env("RUSTC_WORKSPACE_WRAPPER", root().join(RUSTC));
        ensure!(exit_code(&mut build)? == 0, "the fuzzer cannot be built; it needs a C++ compiler");
        Ok(Self { program: target.join("debug").join("fuzz"), folder: target.join("fuzz") })
    }

    /// Searches for this many seconds, from the seeds and earlier findings; returns the output of the fuzzer.
    fn run(&self, target: &str, seconds: u64) -> anyhow::Result<Output> {
        let (corpus, found) = (self.folder.join("corpus").join(target), self.found(target));
        for folder in [&corpus, &found] {
            fs::create_dir_all(folder).with_context(|| format!("{} cannot be created", folder.display()))?;
        }
        let mut fuzzer = Command::new(&self.program);
        fuzzer
            .env("CUEPOINT_FUZZ_TARGET", target)
            .current_dir(root())
            .args(["-seed=1", "-print_final_stats=1", "-timeout=10", "-rss_limit_mb=1024", "-verbosity=1"])
            .arg(format!("-max_len={MAX_LENGTH}"))
            .arg(format!("-max_total_time={seconds}"))
            .arg(format!("-artifact_prefix={}/", found.display()))
            .arg(corpus)
            .arg(Path::new(CORPUS).join(target));
        fuzzer.output().context("the fuzzer does not start")
    }

    /// The folder of the inputs that violated the target's property.
    fn found(&self, target: &str) -> PathBuf {
        self.folder.join("found").join(target)
    }
}
