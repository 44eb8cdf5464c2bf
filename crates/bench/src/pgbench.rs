//! PostgreSQL's own benchmark, which sets the limits.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use hdrhistogram::Histogram;

use crate::figures::{self, Figures, Quantiles, per_thousand};
use crate::load::schedule::Rate;
use crate::postgres::Cluster;
use crate::processes::Process;

/// The time for sessions to connect and prepare, before CPU time is first read.
const CONNECTING: Duration = Duration::from_secs(1);
/// The margin before the end at which CPU time is read for the last time.
const ENDING: Duration = Duration::from_millis(300);
/// The arguments that limit the log to the latencies of a tenth of the transactions.
const LOGS_A_TENTH: &[&str] = &["--sampling-rate", "0.1"];

/// What runs.
#[derive(Clone, Copy)]
pub(crate) struct Script<'a> {
    /// The script in pgbench's language.
    pub(crate) text: &'a str,
    pub(crate) variables: &'a [(&'static str, i64)],
    /// Where it runs.
    pub(crate) cluster: &'a Cluster,
    pub(crate) database: &'a str,
    /// The number of sessions that run it at the same time.
    pub(crate) sessions: usize,
}

/// pgbench and its working folder.
pub(crate) struct Pgbench {
    program: PathBuf,
    folder: PathBuf,
}

/// The result of a run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Ran {
    pub(crate) figures: Figures,
    /// The number of transactions.
    pub(crate) transactions: u64,
}

impl Pgbench {
    /// Uses this program, with scripts and logs in the folder.
    pub(crate) fn new(program: &Path, folder: &Path) -> Self {
        Self { program: program.to_owned(), folder: folder.to_owned() }
    }

    /// Runs a script.
    ///
    /// # Errors
    /// If any transaction fails.
    pub(crate) fn run(&self, script: Script<'_>, counted: Duration) -> anyhow::Result<Ran> {
        let lasts = counted.saturating_add(CONNECTING);
        let started = Instant::now();
        let process = self.start(script, lasts, LOGS_A_TENTH)?;
        let id = Process(process.id());
        let cpu = || anyhow::Ok((Instant::now(), id.cpu()?, script.cluster.cpu()?));
        sleep(CONNECTING);
        let before = cpu();
        sleep(lasts.saturating_sub(ENDING).saturating_sub(started.elapsed()));
        let after = cpu();
        let (per_second, transactions) = ended(process)?;
        // Checked only now: they fail when pgbench has exited early, and its own message explains that best.
        let ((begun, load_before, database_before), (ended, load_after, database_after)) = (before?, after?);
        let meanwhile = per_second * ended.saturating_duration_since(begun).as_secs_f64();
        let used = |before, after: Duration| Some(per_thousand(after.saturating_sub(before), meanwhile));
        let figures = Figures {
            database_cpu: used(database_before, database_after),
            load_cpu: used(load_before, load_after),
            ..Figures::of(per_second, &self.latencies(Duration::ZERO)?)
        };
        Ok(Ran { figures, transactions })
    }

    /// Runs a script at a rate; each latency counts from the time at which the transaction was due.
    ///
    /// # Errors
    /// If any transaction fails.
    pub(crate) fn run_at(&self, script: Script<'_>, rate: Rate) -> anyhow::Result<Quantiles> {
        // It takes whole seconds.
        let lasts = rate.warm_up.saturating_add(rate.counted).saturating_add(CONNECTING);
        let per_second = rate.per_second.to_string();
        ended(self.start(script, lasts, &["--rate", &per_second])?)?;
        Ok(Quantiles::of(&self.latencies(rate.warm_up)?))
    }

    fn start(&self, script: Script<'_>, lasts: Duration, further: &[&str]) -> anyhow::Result<Child> {
        let Script { text, variables, cluster, database, sessions } = script;
        let file = self.folder.join("script.sql");
        fs::write(&file, text).with_context(|| format!("{} cannot be written", file.display()))?;
        let mut command = Command::new(&self.program);
        command.args(["-n", "-M", "prepared", "-h", "127.0.0.1", "-U", "postgres", "--log"]).args(further);
        command.args(["-p", &cluster.port().to_string(), "-c", &sessions.to_string()]);
        // One thread for each of two cores, enough for a load of this many sessions.
        command.args(["-j", &sessions.min(2).to_string(), "-T", &lasts.as_secs().to_string()]);
        command.arg("--log-prefix").arg(self.folder.join("latencies")).arg("-f").arg(&file);
        for (name, value) in variables {
            command.args(["-D", &format!("{name}={value}")]);
        }
        let command =
            command.arg(database).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().with_context(|| format!("cannot start {}", self.program.display()))
    }

    /// Returns the latencies that the last run logged after its warm-up, and removes its log files.
    fn latencies(&self, warm_up: Duration) -> anyhow::Result<Histogram<u64>> {
        let mut logged = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"latencies")) {
                logged.extend(fs::read_to_string(&path)?.lines().filter_map(Logged::parse));
                fs::remove_file(&path)?;
            }
        }
        after_warm_up(&logged, warm_up)
    }
}

/// Waits for the end of a run; returns the transactions per second and their number.
fn ended(process: Child) -> anyhow::Result<(f64, u64)> {
    let output = process.wait_with_output().context("cannot wait for pgbench")?;
    let (said, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "pgbench failed: {said}{errors}");
    summary(&said).with_context(|| format!("unexpected output of pgbench: {said}{errors}"))
}

/// A transaction in the log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Logged {
    /// Its latency in microseconds, which counts from the scheduled time in a run at a rate.
    latency: u64,
    /// The time of its end, since 1970.
    ended_at: Duration,
}

impl Logged {
    /// Parses a line: the third number is the latency, the fifth and the sixth one are the time.
    fn parse(line: &str) -> Option<Self> {
        let mut numbers = line.split(' ').skip(2).map(|number| number.parse::<u64>().ok());
        let latency = numbers.next()??;
        let seconds = Duration::from_secs(numbers.nth(1)??);
        Some(Self { latency, ended_at: seconds.checked_add(Duration::from_micros(numbers.next()??))? })
    }
}

/// Returns the latencies of the transactions that ended after the warm-up, which begins with the first one.
fn after_warm_up(logged: &[Logged], warm_up: Duration) -> anyhow::Result<Histogram<u64>> {
    let mut latencies = figures::latencies()?;
    let first = logged.iter().map(|one| one.ended_at).min().unwrap_or_default();
    let counts = |one: &&Logged| one.ended_at >= first.saturating_add(warm_up);
    logged.iter().filter(counts).for_each(|one| latencies.saturating_record(one.latency));
    Ok(latencies)
}

/// Parses the transactions per second and their number; `None` if any failed.
fn summary(said: &str) -> Option<(f64, u64)> {
    let after = |beginning: &str| said.lines().find_map(|line| line.strip_prefix(beginning));
    let first = |text: &str| text.split([' ', '/']).find(|word| !word.is_empty()).map(str::to_owned);
    let failed = after("number of failed transactions: ").and_then(first);
    let per_second = after("tps = ").and_then(first)?.parse().ok()?;
    let transactions = after("number of transactions actually processed: ").and_then(first)?.parse().ok()?;
    failed.is_none_or(|failed| failed == "0").then_some((per_second, transactions))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAID: &str = "scaling factor: 1\nnumber of transactions actually processed: 1234\n\
                        number of failed transactions: 0 (0.000%)\nlatency average = 0.5 ms\n\
                        tps = 1931.25 (without initial connection time)\n";

    #[test]
    fn the_pgbench_summary_is_parsed_unless_transactions_failed() {
        assert_eq!(summary(SAID), Some((1931.25, 1234)));
        assert_eq!(summary(&SAID.replace("failed transactions: 0", "failed transactions: 1")), None);
        assert_eq!(summary("nothing"), None);
    }

    #[test]
    fn logged_latencies_exclude_the_warm_up() {
        let lines = [
            "0 198 100 0 1175850568 900000",
            "0 199 2241 0 1175850568 995598",
            "1 7 9000 0 1175850569 900000 350",
            "0 200 3000 0 1175850570 0",
            "no transaction",
        ];
        let logged: Vec<Logged> = lines.into_iter().filter_map(Logged::parse).collect();
        let range = |seconds| {
            let latencies = after_warm_up(&logged, Duration::from_secs(seconds)).unwrap();
            (latencies.len(), latencies.min(), latencies.max().div_euclid(1_000))
        };
        assert_eq!(range(0), (4, 100, 9));
        assert_eq!(range(1), (2, 3_000, 9));
    }
}
