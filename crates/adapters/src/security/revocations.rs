//! The revocation list, cached in memory so that no request waits for the database to be authenticated.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration as StdDuration;

use cuepoint_domain::authorization::{Epoch, Principal, Revocation, RevocationList};
use cuepoint_domain::ports::{Clock, Sessions, Unavailable};
use thiserror::Error;
use time::Duration;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};

use crate::clock::{ClocksApart, ServiceClock, TOLERANCE};

/// The refresh interval: short enough for a revocation to take effect on every server within the two seconds
/// that the API guarantees, including the read.
pub const INTERVAL: StdDuration = StdDuration::from_secs(1);
/// The delay before a failed read is repeated: the next interval would end after the two seconds.
const REPEATED_AFTER: StdDuration = StdDuration::from_millis(100);
/// The age of the list after which a pending read counts as hanging.
const HANGS_AFTER: StdDuration = StdDuration::from_secs(5);
/// The maximum age of the list for requests that change state or come from staff.
const MOST_AGE: StdDuration = StdDuration::from_secs(30);

/// The revocations within the lifetime of an access token.
#[derive(Debug)]
pub struct RevocationCache {
    reach: Duration,
    reading: Mutex<()>,
    list: RwLock<Arc<List>>,
    /// Whether the last read failed.
    failing: AtomicBool,
}

/// The list and the time at which its read started.
#[derive(Debug)]
struct List {
    revoked: RevocationList,
    read_at: Instant,
}

/// The reason why the list is unreliable.
#[derive(Debug, Error)]
pub enum RevocationError {
    /// The list cannot be read.
    #[error("the revocation list cannot be read: {0}")]
    Unavailable(#[from] Unavailable),
    /// The first read did not end in time.
    #[error("the revocation list was not read in time")]
    Late,
    /// The list was read, but the clocks of the server and the storage differ too much.
    #[error(transparent)]
    ClocksApart(#[from] ClocksApart),
}

/// The list is too old.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the revocation list is older than {} s", MOST_AGE.as_secs())]
pub struct Outdated;

impl RevocationCache {
    /// Creates an empty list for tokens with this lifetime.
    #[must_use]
    pub fn new(tokens_valid_for: Duration) -> Self {
        // The clocks may differ between the server that issued the token and the one that ended the session.
        let reach = tokens_valid_for.saturating_add(TOLERANCE).saturating_add(TOLERANCE);
        let list = List { revoked: RevocationList::default(), read_at: Instant::now() };
        let list = RwLock::new(Arc::new(list));
        Self { reach, reading: Mutex::default(), list, failing: AtomicBool::new(true) }
    }

    /// Reloads the list and compares the clocks. Revocations stored before the call are known after it. A
    /// failed read leaves the previous list in place.
    ///
    /// # Errors
    /// [`RevocationError`].
    pub async fn refresh(
        &self,
        sessions: &(impl Sessions + ?Sized),
        clock: &ServiceClock,
    ) -> Result<(), RevocationError> {
        // Serialized, so that an earlier read cannot overwrite the result of a later one.
        let _turn = self.reading.lock().await;
        let read_at = Instant::now();
        let before = clock.machine_time();
        let read = sessions.revoked_since(clock.now().minus(self.reach)).await;
        self.failing.store(read.is_err(), Ordering::Release);
        let revoked = read?;
        let storage_time = revoked.storage_time;
        let list = Arc::new(List { revoked, read_at });
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = list;
        Ok(clock.compare(before, storage_time)?)
    }

    /// Reloads the list like [`Self::refresh`], and repeats a failed read within a time limit.
    ///
    /// # Errors
    /// [`RevocationError`]; the cause of the last failed read after the time limit.
    pub async fn refresh_within(
        &self,
        limit: StdDuration,
        sessions: &(impl Sessions + ?Sized),
        clock: &ServiceClock,
    ) -> Result<(), RevocationError> {
        let mut failure = RevocationError::Late;
        let reads = async {
            loop {
                match self.refresh(sessions, clock).await {
                    Err(unavailable @ RevocationError::Unavailable(_)) => failure = unavailable,
                    read => return read,
                }
                sleep(REPEATED_AFTER).await;
            }
        };
        let read = timeout(limit, reads).await;
        read.unwrap_or(Err(failure))
    }

    /// Returns the principal of a valid token with their current role.
    ///
    /// # Errors
    /// [`Revocation`].
    pub fn check(&self, principal: Principal) -> Result<Principal, Revocation> {
        self.list().revoked.check(principal)
    }

    /// Returns the current epoch of the data; tokens of other epochs are invalid.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.list().revoked.epoch
    }

    /// Returns an error if the list is too old for requests that change state.
    ///
    /// # Errors
    /// [`Outdated`].
    pub fn ensure_current(&self) -> Result<(), Outdated> {
        if self.list().read_at.elapsed() > MOST_AGE { Err(Outdated) } else { Ok(()) }
    }

    /// Returns whether the list can be read: the last read did not fail, and none hangs.
    #[must_use]
    pub fn can_be_read(&self) -> bool {
        !self.failing.load(Ordering::Acquire) && self.list().read_at.elapsed() <= HANGS_AFTER
    }

    fn list(&self) -> Arc<List> {
        Arc::clone(&self.list.read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use cuepoint_domain::ports::MockSessions;

    use super::*;

    fn sessions(
        mut answer: impl FnMut() -> Result<RevocationList, Unavailable> + Send + 'static,
    ) -> MockSessions {
        let mut sessions = MockSessions::new();
        sessions.expect_revoked_since().returning(move |_| answer());
        sessions
    }

    #[tokio::test(start_paused = true)]
    async fn the_last_read_revocation_list_is_trusted_for_30_seconds() {
        let (revocations, clock) = (RevocationCache::new(Duration::minutes(15)), ServiceClock::default());
        let works = sessions(|| Ok(RevocationList { epoch: Epoch(7), ..RevocationList::default() }));
        let fails = sessions(|| Err(Unavailable::new("away")));
        assert!(!revocations.can_be_read());
        revocations.refresh(&works, &clock).await.unwrap();
        assert!(revocations.can_be_read());
        tokio::time::advance(MOST_AGE).await;
        revocations.refresh(&fails, &clock).await.unwrap_err();
        assert!(!revocations.can_be_read());
        assert_eq!((revocations.ensure_current(), revocations.epoch()), (Ok(()), Epoch(7)));
        tokio::time::advance(StdDuration::from_millis(1)).await;
        assert_eq!(revocations.ensure_current(), Err(Outdated));
        revocations.refresh(&works, &clock).await.unwrap();
        assert_eq!(revocations.ensure_current(), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_read_of_the_revocation_list_is_repeated_within_the_interval() {
        let (revocations, clock) = (RevocationCache::new(Duration::minutes(15)), ServiceClock::default());
        let mut failures = 3;
        let recovers = sessions(move || {
            failures -= 1;
            if failures < 0 { Ok(RevocationList::default()) } else { Err(Unavailable::new("away")) }
        });
        let begin = Instant::now();
        revocations.refresh_within(INTERVAL, &recovers, &clock).await.unwrap();
        assert!(revocations.can_be_read());
        assert!(begin.elapsed() < INTERVAL, "{:?}", begin.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn the_time_limit_ends_the_repetition_with_the_cause() {
        let (revocations, clock) = (RevocationCache::new(Duration::minutes(15)), ServiceClock::default());
        let (begin, fails) = (Instant::now(), sessions(|| Err(Unavailable::new("away"))));
        let error = revocations.refresh_within(INTERVAL, &fails, &clock).await.unwrap_err();
        assert!(begin.elapsed() < INTERVAL + REPEATED_AFTER, "{:?}", begin.elapsed());
        assert_eq!(error.to_string(), "the revocation list cannot be read: unavailable: away");
    }
}
