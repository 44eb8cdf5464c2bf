//! `cargo xtask fuzz`: looks for inputs that break a property of `crates/fuzz`, with libFuzzer on the stable toolchain.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};

use crate::workspace::{cargo, exit_code, root, target_dir};

/// How long all targets together are tried, unless it is told.
const SECONDS: u64 = 60;
/// Where the seeds of every target lie, a folder for each.
const CORPUS: &str = "crates/fuzz/corpus";
/// The longest input that is tried, in bytes.
const MAX_LENGTH: usize = 4_096;
/// What compiles the workspace's own crates so that the fuzzer sees which way an input took.
const RUSTC: &str = "xtask/fuzz/rustc";

/// What the arguments ask for.
#[derive(PartialEq, Eq, Debug)]
struct Asked {
    target: Option<String>,
    seconds: u64,
}

/// Runs one target or all, and answers with the exit code of the first that fails.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<u8> {
    let asked = read(arguments)?;
    let mut targets = targets()?;
    if let Some(target) = &asked.target {
        ensure!(targets.contains(target), "there is no target `{target}`, only {}", targets.join(", "));
        targets.retain(|known| known == target);
    }
    let share = asked.seconds.checked_div(u64::try_from(targets.len())?).unwrap_or(0).max(1);
    let fuzzer = Fuzzer::build()?;
    for target in targets {
        let code = fuzzer.run(&target, share)?;
        if code != 0 {
            let found = fuzzer.found(&target);
            eprintln!(
                "xtask fuzz: {target} is broken by the newest file in {}; repair it, and keep the file in {CORPUS}/{target}/ \
                 under a name that says what it shows, so that every test run plays it",
                found.display()
            );
            return Ok(code);
        }
    }
    Ok(0)
}

fn read(arguments: &[String]) -> anyhow::Result<Asked> {
    let mut asked = Asked { target: None, seconds: SECONDS };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if argument == "--seconds" {
            let seconds = arguments.next().context("--seconds takes a number")?;
            asked.seconds =
                seconds.parse().with_context(|| format!("`{seconds}` is no number of seconds"))?;
            ensure!(asked.seconds > 0, "nothing is found in no time");
        } else if asked.target.is_some() || argument.starts_with('-') {
            bail!("there is no argument `{argument}`");
        } else {
            asked.target = Some(argument.clone());
        }
    }
    Ok(asked)
}

/// The names of all targets, which are those of their folders of seeds.
fn targets() -> anyhow::Result<Vec<String>> {
    let folders = fs::read_dir(root().join(CORPUS)).with_context(|| format!("{CORPUS} cannot be read"))?;
    let mut names: Vec<String> =
        folders.flatten().filter_map(|folder| folder.file_name().into_string().ok()).collect();
    names.sort();
    Ok(names)
}

struct Fuzzer {
    program: PathBuf,
    /// What it finds: a corpus and the inputs that break something, by target.
    folder: PathBuf,
}

impl Fuzzer {
    /// Builds it with coverage, beside the ordinary build, whose dependencies it shares.
    fn build() -> anyhow::Result<Self> {
        let target = target_dir()?;
        let mut build = cargo();
        build
            .args([
                "build",
                "--locked",
                "--package",
                "cuepoint-fuzz",
                "--features",
                "libfuzzer",
                "--bin",
                "fuzz",
            ])
            .env("RUSTC_WORKSPACE_WRAPPER", root().join(RUSTC));
        ensure!(exit_code(&mut build)? == 0, "the fuzzer cannot be built; it needs a C++ compiler");
        Ok(Self { program: target.join("debug").join("fuzz"), folder: target.join("fuzz") })
    }

    /// Looks for this many seconds, from the seeds and what was found before; answers with its exit code.
    fn run(&self, target: &str, seconds: u64) -> anyhow::Result<u8> {
        println!("\n--- {target}, {seconds} s ---");
        let (corpus, found) = (self.folder.join("corpus").join(target), self.found(target));
        for folder in [&corpus, &found] {
            fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
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
        exit_code(&mut fuzzer)
    }

    /// The inputs that broke the target's property.
    fn found(&self, target: &str) -> PathBuf {
        self.folder.join("found").join(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(arguments: &[&str]) -> Option<Asked> {
        let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        read(&arguments).ok()
    }

    #[test]
    fn a_target_and_a_time_in_either_order() {
        let money = |seconds| Some(Asked { target: Some("money".to_owned()), seconds });
        assert_eq!(asked(&[]), Some(Asked { target: None, seconds: SECONDS }));
        assert_eq!(asked(&["money"]), money(SECONDS));
        assert_eq!(asked(&["money", "--seconds", "600"]), money(600));
        assert_eq!(asked(&["--seconds", "600", "money"]), money(600));
        for arguments in [&["money", "json"][..], &["--second"], &["--seconds"], &["--seconds", "0"]] {
            assert_eq!(asked(arguments), None, "{arguments:?}");
        }
    }
}
