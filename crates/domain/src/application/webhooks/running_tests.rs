//! The tests of webhook endpoints that are running on this server.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use thiserror::Error;

use crate::ids::WebhookEndpointId;

/// Why a test of an endpoint does not begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum TestRefusal {
    /// A test of the endpoint is running on this server.
    #[error("a test of the endpoint is running")]
    Running,
    /// The maximum number of tests is running on this server.
    #[error("{} tests are running already", RunningTests::MAX)]
    TooMany,
}

/// The endpoints with a running test: at most one test for each, and [`RunningTests::MAX`] in all.
#[derive(Clone, Default)]
pub(in crate::application) struct RunningTests(Arc<Mutex<HashSet<WebhookEndpointId>>>);

/// A running test, until it is dropped.
pub(super) struct RunningTest {
    tests: RunningTests,
    endpoint: WebhookEndpointId,
}

impl RunningTests {
    /// The maximum number of concurrent tests.
    pub(super) const MAX: usize = 32;

    /// Begins a test of an endpoint.
    ///
    /// # Errors
    /// [`TestRefusal::Running`] and [`TestRefusal::TooMany`].
    pub(super) fn begin(&self, endpoint: WebhookEndpointId) -> Result<RunningTest, TestRefusal> {
        let mut running = self.running();
        if running.contains(&endpoint) {
            return Err(TestRefusal::Running);
        }
        if running.len() >= Self::MAX {
            return Err(TestRefusal::TooMany);
        }
        running.insert(endpoint);
        drop(running);
        Ok(RunningTest { tests: self.clone(), endpoint })
    }

    fn running(&self) -> MutexGuard<'_, HashSet<WebhookEndpointId>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningTest {
    fn drop(&mut self) {
        self.tests.running().remove(&self.endpoint);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_runs_at_most_one_test_per_endpoint_and_32_in_all() {
        let tests = RunningTests::default();
        let begin = |number| tests.begin(WebhookEndpointId::new(number).unwrap());
        let mut running: Vec<_> = (1..=32).map(|number| begin(number).ok()).collect();
        assert!(running.iter().all(Option::is_some));
        assert_eq!(begin(1).err(), Some(TestRefusal::Running));
        assert_eq!(begin(33).err(), Some(TestRefusal::TooMany));
        running.pop();
        assert!(begin(33).is_ok());
    }
}
