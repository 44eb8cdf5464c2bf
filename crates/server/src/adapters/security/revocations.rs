//! The revocation list, as it was read a moment ago: no request waits for a database to be recognised.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration as StdDuration;

use cuepoint_domain::authorization::{Epoch, Principal, Revocation, RevocationList};
use cuepoint_domain::ports::{Clock, Sessions, Unavailable};
use thiserror::Error;
use time::Duration;
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::adapters::clock::{ClocksApart, ServiceClock, SystemClock, TOLERANCE};

/// How often it is read: often enough for a revocation to be in force on every server within the two seconds that the
/// contract promises, the read itself included.
pub const INTERVAL: StdDuration = StdDuration::from_secs(1);
/// After what time without a new list its read hangs.
const HANGS_AFTER: StdDuration = StdDuration::from_secs(5);
/// How old the list may be for a call that changes something, or that staff makes, to be answered by it.
const MOST_AGE: StdDuration = StdDuration::from_secs(30);

/// What happened within the life of an access token.
#[derive(Debug)]
pub struct RevocationCache {
    reach: Duration,
    reading: Mutex<()>,
    list: RwLock<Arc<List>>,
    /// Whether the last read failed.
    failing: AtomicBool,
}

/// The list, and when its reading began.
#[derive(Debug)]
struct List {
    revoked: RevocationList,
    read_at: Instant,
}

/// Why the list cannot be relied on.
#[derive(Debug, Error)]
pub enum RevocationError {
    /// It cannot be read.
    #[error("the revocation list cannot be read: {0}")]
    Unavailable(#[from] Unavailable),
    /// It was read, but the clocks of the server and the storage differ too much.
    #[error(transparent)]
    ClocksApart(#[from] ClocksApart),
}

/// The list is too old.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
#[error("the revocation list is older than {} s", MOST_AGE.as_secs())]
pub struct Outdated;

impl RevocationCache {
    /// Nothing yet; tokens are valid for this long.
    #[must_use]
    pub fn new(tokens_valid_for: Duration) -> Self {
        // The clocks of two servers may be apart, where the token was issued and where the session ended.
        let reach = tokens_valid_for.saturating_add(TOLERANCE).saturating_add(TOLERANCE);
        let list = List { revoked: RevocationList::default(), read_at: Instant::now() };
        let list = RwLock::new(Arc::new(list));
        Self { reach, reading: Mutex::default(), list, failing: AtomicBool::new(true) }
    }

    /// Reads it again, and compares the clocks: what was kept before this is called is known after it. A read that fails
    /// leaves what was known.
    ///
    /// # Errors
    /// [`RevocationError`].
    pub async fn refresh(
        &self,
        sessions: &(impl Sessions + ?Sized),
        clock: &ServiceClock,
    ) -> Result<(), RevocationError> {
        // One at a time, so that no read that began earlier takes away what a later one found.
        let _turn = self.reading.lock().await;
        let read_at = Instant::now();
        let before = SystemClock.now();
        let read = sessions.revoked_since(clock.now().minus(self.reach)).await;
        self.failing.store(read.is_err(), Ordering::Release);
        let revoked = read?;
        let storage_time = revoked.storage_time;
        let list = Arc::new(List { revoked, read_at });
        *self.list.write().unwrap_or_else(PoisonError::into_inner) = list;
        Ok(clock.compare(before, storage_time)?)
    }

    /// The principal of a valid token, with their current role.
    ///
    /// # Errors
    /// [`Revocation`].
    pub fn check(&self, principal: Principal) -> Result<Principal, Revocation> {
        self.list().revoked.check(principal)
    }

    /// The epoch of the data, which tokens must be of.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        self.list().revoked.epoch
    }

    /// That the list is new enough for calls that change something.
    ///
    /// # Errors
    /// [`Outdated`].
    pub fn ensure_current(&self) -> Result<(), Outdated> {
        if self.list().read_at.elapsed() > MOST_AGE { Err(Outdated) } else { Ok(()) }
    }

    /// Whether it can be read: the last read did not fail, and none hangs.
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

    fn sessions(answer: impl Fn() -> Result<RevocationList, Unavailable> + Send + 'static) -> MockSessions {
        let mut sessions = MockSessions::new();
        sessions.expect_revoked_since().returning(move |_| answer());
        sessions
    }

    #[tokio::test(start_paused = true)]
    async fn a_list_that_cannot_be_read_counts_for_half_a_minute() {
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
}
