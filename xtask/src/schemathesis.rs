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

/// Tests the service on both durable stores in parallel, as each principal; returns 1 if there are findings.
pub(crate) fn run(examples: Count) -> anyhow::Result<u8> {
    let examples = &examples.to_string();
    let requirements = root().join(FOLDER).join("requirements.txt");
    let program = python::environment("schemathesis", &requirements)?.join("schemathesis");
    service::binary()?;
    let mut failed = Vec::new();
    for caller in CALLERS {
        let cluster = Cluster::start(Purpose::Testing)?;
        let url = cluster.url();
        let postgres =
            [("CUEPOINT__STORAGE__BACKEND", "postgres"), ("CUEPOINT__STORAGE__POSTGRES__URL", &url)];
        let data = reports("sqlite", caller)?.join("data");
        let sqlite = service::sqlite(&data)?;
        let stores: [(&str, &[(&str, &str)]); 2] = [("sqlite", &sqlite), ("postgres", &postgres)];
        let run = |(store, settings)| (store, test(&program, store, caller, examples, settings));
        let tested = thread::scope(|scope| {
            let started = stores.map(|store| scope.spawn(move || run(store)));
            started.map(ScopedJoinHandle::join)
        });
        cluster.stop()?;
        for outcome in tested {
            let Ok((store, output)) = outcome else { bail!("a test thread panicked") };
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
