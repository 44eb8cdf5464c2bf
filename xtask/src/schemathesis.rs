//! `cargo xtask schemathesis`: tests of the live service, generated from the OpenAPI document that it serves.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread::{self, ScopedJoinHandle};

use anyhow::{Context, bail};

use crate::Count;
use crate::cluster::{Cluster, Purpose};
use crate::python;
use crate::service::{self, Service};
use crate::workspace::{root, target_dir};

/// The configuration, the hooks and the pinned versions.
const FOLDER: &str = "xtask/schemathesis";
/// The principals of the generated calls.
const CALLERS: &[&str] = &["guest", "dj", "operator"];
/// The password of every user; the users exist only during the run.
const PASSWORD: &str = "only for this run";
/// The secret of the providers' signatures, which also exists only during the run.
const SECRET: &str = "whsec_b25seSBmb3IgdGhpcyBydW4sIDI0IGJ5dGVz";

/// The number of calls of each operation on SQLite alone.
const FEW: &str = "3";

/// Tests the service on both durable stores in parallel, as each principal; returns 1 if there are findings.
pub(crate) fn run(examples: Count) -> anyhow::Result<u8> {
    run_on(&["sqlite", "postgres"], &examples.to_string())
}

/// Tests the service on SQLite with few calls, in less than a third of the time.
pub(crate) fn run_on_sqlite() -> anyhow::Result<u8> {
    run_on(&["sqlite"], FEW)
}

fn run_on(stores: &[&'static str], examples: &str) -> anyhow::Result<u8> {
    let requirements = root().join(FOLDER).join("requirements.txt");
    let program = python::environment("schemathesis", &requirements)?.join("schemathesis");
    service::binary()?;
    let runs: Vec<(&str, &str)> =
        CALLERS.iter().flat_map(|caller| stores.iter().map(move |store| (*caller, *store))).collect();
    let mut failed = Vec::new();
    for pair in runs.chunks(2) {
        let tested = thread::scope(|scope| {
            let started: Vec<_> = pair
                .iter()
                .map(|(caller, store)| scope.spawn(|| test_on(&program, store, caller, examples)))
                .collect();
            started.into_iter().map(ScopedJoinHandle::join).collect::<Vec<_>>()
        });
        for ((caller, store), outcome) in pair.iter().zip(tested) {
            let Ok(output) = outcome else { bail!("a test thread panicked") };
            let output = output?;
            println!("\n--- as {caller}, on {store} ---\n{}", String::from_utf8_lossy(&output.stdout));
            if !output.status.success() {
                eprintln!("{}", String::from_utf8_lossy(&output.stderr));
                failed.push(format!("{caller} on {store}"));
            }
        }
    }
    if failed.is_empty() {
        return Ok(0);
    }
    eprintln!(
        "xtask schemathesis: findings as {}; each is shown above with its curl command",
        failed.join(", ")
    );
    Ok(1)
}

/// Tests a service on an empty database of this store.
fn test_on(program: &Path, store: &str, caller: &str, examples: &str) -> anyhow::Result<Output> {
    if store == "sqlite" {
        let data = reports(store, caller)?.join("data");
        return test(program, store, caller, examples, &service::sqlite(&data)?);
    }
    Cluster::during(Purpose::Testing, |cluster| {
        let url = cluster.url();
        let settings = [("CUEPOINT__STORAGE__BACKEND", store), ("CUEPOINT__STORAGE__POSTGRES__URL", &url)];
        test(program, store, caller, examples, &settings)
    })
}

/// Tests a fresh service, so that a run reproduces the findings of the previous one.
fn test(
    program: &Path,
    store: &str,
    caller: &str,
    examples: &str,
    settings: &[(&str, &str)],
) -> anyhow::Result<Output> {
    let reports = reports(store, caller)?;
    let mut settings = settings.to_vec();
    settings.extend([
        ("CUEPOINT__BOOTSTRAP__OPERATOR_EMAIL", "operator@example.com"),
        ("CUEPOINT__BOOTSTRAP__OPERATOR_PASSWORD", PASSWORD),
        ("CUEPOINT__TOPUPS__WEBHOOK_SECRETS", SECRET),
        ("CUEPOINT__PAYOUTS__WEBHOOK_SECRETS", SECRET),
    ]);
    let service = Service::start(&settings, &reports.join("server.log"))?;
    let mut tests = Command::new(program);
    tests
        .arg("--config-file")
        .arg(root().join(FOLDER).join("schemathesis.toml"))
        .args(["run", &format!("{}/openapi.json", service.url()), "--max-examples", examples])
        // A stream does not end; tests of the HTTP contract cover it.
        .args(["--exclude-path-regex", "/stream$"])
        .arg("--report-junit-path")
        .arg(reports.join("junit.xml"))
        .arg("--no-color")
        .env("CUEPOINT_URL", service.url())
        .env("CUEPOINT_CALLER", caller)
        .env("CUEPOINT_OPERATOR_PASSWORD", PASSWORD)
        .env("CUEPOINT_WEBHOOK_SECRET", SECRET)
        // The hooks are imported as a module, and must not leave compiled files in the repository.
        .env("PYTHONPATH", root().join(FOLDER))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(&reports);
    tests.output().context("schemathesis does not start")
}

/// The folder of the reports about a store as a principal.
fn reports(store: &str, caller: &str) -> anyhow::Result<PathBuf> {
    let reports = target_dir()?.join("schemathesis").join(format!("{store}-{caller}"));
    fs::create_dir_all(&reports).with_context(|| format!("{} cannot be created", reports.display()))?;
    Ok(reports)
}
