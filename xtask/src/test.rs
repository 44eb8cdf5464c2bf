//! `cargo xtask test`: every test, including those on a real PostgreSQL.

use std::fs::File;
use std::num::NonZeroUsize;
use std::process::Command;
use std::{env, fs, thread};

use crate::Count;
use crate::cluster::{Cluster, Purpose};
use crate::postgres_binaries::{self, can_install, install_without, on_path};
use crate::server_user::ServerUser;
use crate::workspace::{cargo, code_of, exit_code, remove_variables, target_dir};

/// The variable with the URL of PostgreSQL for tests.
const URL_VARIABLE: &str = "CUEPOINT_TEST_POSTGRES_URL";

/// The variable with the number of tests that run at the same time.
const THREADS_VARIABLE: &str = "RUST_TEST_THREADS";

/// The variable with the folder of PostgreSQL's programs, for tests that start servers of their own.
const PROGRAMS_VARIABLE: &str = "CUEPOINT_TEST_POSTGRES_PROGRAMS";

/// The variable with the user of these servers, `uid:gid`, if it differs from the user of the tests.
const USER_VARIABLE: &str = "CUEPOINT_TEST_POSTGRES_USER";

/// The module of the tests that need nginx.
const BEHIND_NGINX: &str = "reverse_proxy::";

/// Whether nginx is there for the tests behind it. As root on Debian, it is installed; elsewhere a line says that these
/// tests are left out.
fn has_nginx() -> anyhow::Result<bool> {
    if on_path("nginx").is_none() && can_install() {
        // Its service must not take the ports of this machine.
        install_without(NO_SERVICES, "#!/bin/sh\nexit 101\n", &["nginx-light"])?;
    }
    let is_there = on_path("nginx").is_some();
    if !is_there {
        eprintln!("xtask: nginx is missing: the tests {BEHIND_NGINX} are left out");
    }
    Ok(is_there)
}

/// The file that prevents packages of Debian from starting their services during installation.
const NO_SERVICES: &str = "/usr/sbin/policy-rc.d";

/// The arguments that leave a module out, after these arguments.
fn left_out<'a>(arguments: &[&str], module: &'a str) -> Vec<&'a str> {
    let own = if arguments.contains(&"--") { &[][..] } else { &["--"] };
    [own, &["--skip", module]].concat()
}

/// The programs of tests in two groups, as patterns of which each name matches one: `http`, which has most tests and for
/// minutes waits more than it computes, and the others.
const GROUPS: [&str; 2] = ["h*", "[!h]*"];

/// Runs `cargo test` with a temporary cluster and returns its exit code. Without arguments, all tests run in two groups at
/// a time.
pub(crate) fn run(arguments: &[impl AsRef<str>]) -> anyhow::Result<u8> {
    match arguments {
        [] => Cluster::during(Purpose::Testing, |cluster| run_groups_on(&cluster.url())),
        _ => run_with(arguments, &[]),
    }
}

/// Builds all tests, and runs the second group beside the first one. The output of the second group follows.
fn run_groups_on(url: &str) -> anyhow::Result<u8> {
    let built = run_on(url, &["--no-run"], &[])?;
    if built != 0 {
        return Ok(built);
    }
    let [first, second] = GROUPS;
    let path = target_dir()?.join("tests-beside.log");
    let log = File::create(&path)?;
    let mut beside = tests_on(url, &["--lib", "--bins", "--test", second], &[])?;
    let mut beside = beside.stdout(log.try_clone()?).stderr(log).spawn()?;
    let code = run_on(url, &["--test", first], &[]);
    let code_beside = code_of(beside.wait()?);
    print!("{}", fs::read_to_string(path)?);
    Ok(code?.max(code_beside))
}

/// The arguments of the quick tier. They leave out repetitions of tests on memory and PostgreSQL, the suite of PostgreSQL,
/// and failovers.
const QUICK: &str =
    "--exclude cuepoint-store-postgres -- --skip on_memory:: --skip on_postgres:: --skip failovers::";

/// Runs the tests of the quick tier.
pub(crate) fn run_quick() -> anyhow::Result<u8> {
    run(&QUICK.split(' ').collect::<Vec<_>>())
}

/// `cargo xtask soak`: runs more random histories, more mixed operations and kills over HTTP, more guests of a venue and
/// more guesses of passwords, more phones that follow the pages of an evening, more calls with an undrained log, more
/// strangers with large gigs, and an erasure of a user with more rows.
pub(crate) fn soak(times: Count) -> anyhow::Result<u8> {
    let times = times.to_string();
    let mut variables = vec![("CUEPOINT_SOAK", times.as_str()), ("CUEPOINT_HISTORIES", &times)];
    let code = run_with(&LONG.split(' ').collect::<Vec<_>>(), &variables)?;
    if code != 0 {
        return Ok(code);
    }
    variables.push((THREADS_VARIABLE, "1"));
    run_with(&ALONE.split(' ').collect::<Vec<_>>(), &variables)
}

/// The tests that scale, in any package.
const LONG: &str = "-- --nocapture histories_agree soak:: unread_log:: erasure_at_size:: --skip soak::strangers:: \
                    --skip soak::venue::";
/// Those that fill the processors and assert times of answers, so that no other one runs beside them.
const ALONE: &str = "--profile soak --test http -- --nocapture soak::strangers:: soak::venue::";

/// `cargo xtask failover`: kills primaries, promotes standbys and restores nodes under load, and prints the tables of
/// these tests.
pub(crate) fn failover(rounds: Count) -> anyhow::Result<u8> {
    let tests = ["--package", "cuepoint", "--test", "failover", "--", "--nocapture"];
    run_with(&tests, &[("CUEPOINT_FAILOVER", &rounds.to_string())])
}

/// Runs the tests with these additional variables.
fn run_with(arguments: &[impl AsRef<str>], variables: &[(&str, &str)]) -> anyhow::Result<u8> {
    Cluster::during(Purpose::Testing, |cluster| run_on(&cluster.url(), arguments, variables))
}

/// Runs the tests on a running cluster at this URL.
pub(crate) fn run_on(
    url: &str,
    arguments: &[impl AsRef<str>],
    variables: &[(&str, &str)],
) -> anyhow::Result<u8> {
    exit_code(&mut tests_on(url, arguments, variables)?)
}

/// The command that runs the tests on a running cluster at this URL.
fn tests_on(url: &str, arguments: &[impl AsRef<str>], variables: &[(&str, &str)]) -> anyhow::Result<Command> {
    let mut tests = cargo();
    // A developer's own configuration must not affect the tests.
    remove_variables(&mut tests, "CUEPOINT_");
    if env::var_os(THREADS_VARIABLE).is_none() {
        // A test waits for servers, disks and deadlines more than half of its time.
        let processors = thread::available_parallelism().map_or(1, NonZeroUsize::get);
        tests.env(THREADS_VARIABLE, processors.saturating_mul(5).div_ceil(2).to_string());
    }
    let mut arguments = cargo_arguments(arguments);
    if !has_nginx()? {
        arguments.extend(left_out(&arguments, BEHIND_NGINX));
    }
    tests.args(arguments).env(URL_VARIABLE, url).envs(variables.iter().copied());
    let programs = postgres_binaries::find_or_install()?;
    tests.env(PROGRAMS_VARIABLE, postgres_binaries::behind_links(&programs));
    if let Some(user) = ServerUser::choose()?.to_switch_to() {
        tests.env(USER_VARIABLE, user);
    }
    Ok(tests)
}

/// Selects the whole workspace unless the arguments choose a package: cargo lets `--workspace` win over
/// `--package`.
fn cargo_arguments(extra: &[impl AsRef<str>]) -> Vec<&str> {
    let own = extra.iter().map(AsRef::as_ref).take_while(|argument| *argument != "--");
    let chooses = |argument: &str| {
        argument == "--package"
            || argument.starts_with("--package=")
            || (argument.starts_with("-p") && !argument.starts_with("--"))
    };
    // One run reports every failure, not only those in the first binary.
    let mut arguments = vec!["test", "--locked", "--no-fail-fast"];
    if !own.into_iter().any(chooses) {
        arguments.push("--workspace");
    }
    arguments.extend(extra.iter().map(AsRef::as_ref));
    arguments
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(extra: &[&str], expected: &[&str]) {
        assert_eq!(cargo_arguments(extra), expected);
    }

    #[test]
    fn the_whole_workspace_is_tested_unless_a_package_is_chosen() {
        check(&[], &["test", "--locked", "--no-fail-fast", "--workspace"]);
        check(&["wallet"], &["test", "--locked", "--no-fail-fast", "--workspace", "wallet"]);
        check(&["-p", "xtask"], &["test", "--locked", "--no-fail-fast", "-p", "xtask"]);
        check(&["--package=xtask"], &["test", "--locked", "--no-fail-fast", "--package=xtask"]);
        assert_eq!(left_out(&["test"], "a::"), ["--", "--skip", "a::"]);
        assert_eq!(left_out(&["test", "--", "b"], "a::"), ["--skip", "a::"]);
        check(&["--", "-p"], &["test", "--locked", "--no-fail-fast", "--workspace", "--", "-p"]);
    }
}
