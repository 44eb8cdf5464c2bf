//! Plans applied concurrently.

use cuepoint_domain::operation::{Plan, Rejection};
use cuepoint_domain::ports::Applied;

use crate::harness::scenario::{Scenario, at_once};

/// Applies plans concurrently.
pub(crate) async fn race(
    scenario: &Scenario,
    plans: impl IntoIterator<Item = Plan>,
) -> Vec<Result<Applied, Rejection>> {
    at_once(plans.into_iter().map(|plan| {
        let scenario = scenario.clone();
        async move { scenario.apply(plan).await }
    }))
    .await
}

/// The number of plans that were applied for the first time.
pub(crate) fn fresh(answers: &[Result<Applied, Rejection>]) -> usize {
    answers.iter().filter(|answer| matches!(answer, Ok(Applied::Fresh(_)))).count()
}

/// Applies sixteen of these plans concurrently: one is applied, and all others are stale.
pub(crate) async fn one_of_sixteen_is_applied(scenario: &Scenario, plan: impl Fn() -> Plan) {
    let answers = race(scenario, (0..16).map(|_| plan())).await;
    let stale = answers.iter().filter(|answer| **answer == Err(Rejection::Stale)).count();
    assert_eq!((fresh(&answers), stale), (1, 15), "{answers:?}");
}
