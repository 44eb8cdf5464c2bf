//! Random histories run on the store and on a plain model: every answer and every balance is equal.

mod commands;
mod compare;
mod driver;
mod model;
mod observed;

use std::collections::BTreeSet;
use std::sync::Mutex;

use cuepoint_domain::audit::Summary;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner};
use tokio::runtime::Handle;

use crate::Fixture;
use crate::harness::scenario::Scenario;
use crate::histories::commands::{History, beginning, ending, history};
use crate::histories::driver::{Ended, HistoryDriver};
use crate::histories::observed::EVERYTHING;

/// The factor by which histories are multiplied: 1, or the value in the environment for a long run.
#[expect(
    clippy::disallowed_methods,
    reason = "the suite has no configuration; a long run is asked for by hand"
)]
fn times() -> u32 {
    match std::env::var("CUEPOINT_HISTORIES") {
        Ok(times) => times.parse().unwrap_or_else(|_| panic!("CUEPOINT_HISTORIES={times} is no number")),
        Err(_) => 1,
    }
}

/// Runs this many histories of this many commands: store and model agree on every answer and, after every
/// command, on every balance; at the end also on the lists, the entries and the audit. In between, answers
/// get lost and the store is reopened.
pub async fn random_histories_agree_with_a_reference_model(
    fixture: &dyn Fixture,
    histories: u32,
    steps: usize,
) {
    let scenario = Scenario::new(fixture.store());
    // No operator of a history may be the last one.
    scenario.operator().await;
    let config = Config {
        cases: histories.checked_mul(times()).unwrap(),
        failure_persistence: None,
        max_shrink_iters: 300,
        ..Config::default()
    };
    // A fixed seed: running again reproduces a failure.
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let seen = Mutex::new((Summary { wallets: 1, ..Summary::default() }, BTreeSet::<String>::new()));
    tokio::task::block_in_place(|| {
        let outcome = runner.run(&history(steps), |history| {
            let ended =
                Handle::current().block_on(play(&scenario, fixture, history)).map_err(TestCaseError::fail)?;
            let (summary, observed) = &mut *seen.lock().unwrap();
            summary.wallets += ended.summary.wallets;
            summary.entries += ended.summary.entries;
            summary.postings += ended.summary.postings;
            summary.entities += ended.summary.entities;
            observed.extend(ended.observed);
            Ok(())
        });
        outcome.unwrap_or_else(|failure| panic!("{failure}"));
    });
    let (summary, observed) = seen.into_inner().unwrap();
    assert_eq!(Scenario::new(fixture.store()).audit().await, summary);
    // A few histories may miss an answer; as many as every run has reach all of them.
    if histories >= 24 && steps >= 60 {
        let missing: Vec<_> = EVERYTHING.iter().filter(|answer| !observed.contains(**answer)).collect();
        assert!(missing.is_empty(), "no history led to {missing:?}");
    }
}

async fn play(scenario: &Scenario, fixture: &dyn Fixture, history: History) -> Result<Ended, String> {
    let mut driver = HistoryDriver::start(scenario, fixture, history.terms).await;
    let commands = beginning().into_iter().chain(history.commands).chain(ending());
    for (place, (command, keyed)) in commands.enumerate() {
        let played = format!("{command:?}");
        driver
            .play(command, keyed)
            .await
            .map_err(|differs| format!("command {place}, {played}: {differs}"))?;
        driver
            .compare_balances()
            .await
            .map_err(|differs| format!("after command {place}, {played}: {differs}"))?;
    }
    driver.compare_everything().await?;
    Ok(driver.end())
}
