//! `cargo xtask bench`: the performance of the service, compared with the limits of its platform.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;

use anyhow::ensure;

use crate::cluster::{Cluster, Purpose};
use crate::postgres_binaries;
use crate::workspace::{cargo, emptied, exit_code, root, target_dir};

/// Raises a program's limit of open files to the maximum, because each connection is one.
const WITH_MANY_FILES: &str = r#"ulimit -n "$(ulimit -Hn)" && exec "$@""#;

/// Builds release binaries, starts a cluster with the settings of production, and runs the benchmark's own
/// program; returns its exit code.
pub(crate) fn run(arguments: &[String]) -> anyhow::Result<u8> {
    // Built separately, so that the features which the benchmark needs of the stores stay out of the measured
    // binary.
    for package in ["cuepoint", "cuepoint-bench"] {
        let mut build = cargo();
        build.args(["build", "--release", "--locked", "--package", package]);
        ensure!(exit_code(&mut build)? == 0, "{package} does not build");
    }
    let (command, arguments) = command(arguments);
    let release = target_dir()?.join("release");
    if arguments.iter().any(|argument| matches!(*argument, "--help" | "-h")) {
        return exit_code(Command::new(release.join("cuepoint-bench")).args([command, "--help"]));
    }
    let pgbench = postgres_binaries::client("pgbench", "postgresql-contrib")?;
    // For logs, scripts and keys; it stays until the next run.
    let folder = emptied(release.join("bench"))?;
    fs::set_permissions(&folder, Permissions::from_mode(0o700))?;
    let mut bench = Command::new("sh");
    bench
        .args(["-c", WITH_MANY_FILES, "sh"])
        .arg(release.join("cuepoint-bench"))
        .arg(command)
        .args(arguments);
    bench.arg("--pgbench").arg(pgbench);
    bench.arg("--server").arg(release.join("cuepoint")).arg("--folder").arg(&folder);
    bench.arg("--document").arg(root().join("docs").join("PERFORMANCE.md"));
    Cluster::during(Purpose::Measuring, |cluster| exit_code(bench.args(["--postgres", &cluster.url()])))
}

/// The flags that select the subcommand of their name.
const SUBCOMMANDS: [&str; 6] = ["--latency", "--growth", "--streams", "--gigs", "--pages", "--instructions"];

/// Returns the subcommand and the arguments of the benchmark's own program.
fn command(arguments: &[String]) -> (&'static str, Vec<&str>) {
    let arguments = arguments.iter().map(String::as_str);
    let flag = SUBCOMMANDS.into_iter().find(|flag| arguments.clone().any(|argument| argument == *flag));
    let subcommand = flag.map_or("run", |flag| flag.trim_start_matches('-'));
    (subcommand, arguments.filter(|argument| Some(*argument) != flag).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bench_flags_select_the_subcommand() {
        let said = |arguments: &[&str]| {
            let arguments: Vec<String> = arguments.iter().map(|one| (*one).to_owned()).collect();
            let (command, rest) = command(&arguments);
            format!("{command} {}", rest.join(" "))
        };
        assert_eq!(said(&["--runs", "3"]), "run --runs 3");
        assert_eq!(said(&["--latency", "--write"]), "latency --write");
        assert_eq!(said(&["--seconds", "1", "--growth", "--million"]), "growth --seconds 1 --million");
        assert_eq!(said(&["--streams", "--rows", "sqlite"]), "streams --rows sqlite");
    }
}
