//! The names of hosts that users enter, looked up with bounded time, in turns, and kept for a short time.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cuepoint_domain::ids::UserId;
use futures_util::future::BoxFuture;
use hashlink::LruCache;
use tokio::time::{Instant, timeout};

use super::lookup_turns::LookupTurns;

/// The time limit of a look-up.
const LOOKUP_WITHIN: Duration = Duration::from_secs(5);
/// The maximum time to keep an answer.
const KEPT_FOR: Duration = Duration::from_secs(60);
/// The maximum number of names with kept answers.
const KEPT: usize = 1_024;

/// The addresses of a host.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    /// The addresses; none if the name has none.
    pub(super) addresses: Vec<IpAddr>,
    /// When its time to live ends.
    pub(super) valid_until: Instant,
}

/// Looks up a name.
pub(super) type Lookup = Arc<dyn Fn(String) -> BoxFuture<'static, io::Result<Answer>> + Send + Sync>;

/// Looks up names for users.
pub(super) struct Names {
    lookup: Lookup,
    turns: LookupTurns,
    kept: Mutex<LruCache<String, Answer>>,
}

impl Names {
    /// Names that this function looks up.
    pub(super) fn new(lookup: Lookup) -> Self {
        Self { lookup, turns: LookupTurns::default(), kept: Mutex::new(LruCache::new(KEPT)) }
    }

    /// The addresses of a host, for a user. A valid answer is reused. Otherwise the user takes a turn and
    /// looks up the host.
    ///
    /// # Errors
    /// When the look-up fails, or takes more than five seconds.
    pub(super) async fn addresses(&self, user: UserId, host: &str) -> io::Result<Vec<IpAddr>> {
        let host = host.to_ascii_lowercase();
        if let Some(addresses) = self.kept(&host) {
            return Ok(addresses);
        }
        let turn = self.turns.next(user).await;
        // Another look-up of the name may have ended meanwhile.
        if let Some(addresses) = self.kept(&host) {
            return Ok(addresses);
        }
        let answer = timeout(LOOKUP_WITHIN, (self.lookup)(host.clone())).await;
        drop(turn);
        let answer = answer.map_err(|_| io::Error::other("the name servers gave no answer in time"))??;
        let addresses = answer.addresses.clone();
        self.keep(host, answer);
        Ok(addresses)
    }

    fn kept(&self, host: &str) -> Option<Vec<IpAddr>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = kept.get(host).filter(|answer| answer.valid_until > Instant::now());
        answer.map(|answer| answer.addresses.clone())
    }

    fn keep(&self, host: String, mut answer: Answer) {
        let now = Instant::now();
        if let Some(latest) = now.checked_add(KEPT_FOR) {
            answer.valid_until = answer.valid_until.min(latest);
        }
        if answer.valid_until > now {
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).insert(host, answer);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::FutureExt;
    use tokio::time::advance;

    use super::*;

    const USER: UserId = UserId::new(1).unwrap();
    const OTHER: UserId = UserId::new(2).unwrap();

    /// Names with answers that are valid for this time, and the number of look-ups.
    fn valid_for(time: Duration) -> (Names, Arc<AtomicUsize>) {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let lookup = move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            let answer = Answer {
                addresses: vec!["8.8.8.8".parse().unwrap()],
                valid_until: Instant::now().checked_add(time).unwrap(),
            };
            std::future::ready(Ok(answer)).boxed()
        };
        (Names::new(Arc::new(lookup)), asked)
    }

    #[tokio::test(start_paused = true)]
    async fn lookups_are_cached_for_their_ttl_up_to_a_minute() {
        for (time_to_live, kept_for) in [(0, 0), (1, 1), (30, 30), (60, 60), (86_400, 60)] {
            let (names, asked) = valid_for(Duration::from_secs(time_to_live));
            names.addresses(USER, "host.example").await.unwrap();
            advance(Duration::from_secs(kept_for).saturating_sub(Duration::from_millis(1))).await;
            names.addresses(OTHER, "HOST.example").await.unwrap();
            let after = if kept_for == 0 { 2 } else { 1 };
            assert_eq!(asked.load(Ordering::SeqCst), after, "before the end of {time_to_live} s");
            advance(Duration::from_millis(1)).await;
            names.addresses(USER, "host.example").await.unwrap();
            assert_eq!(asked.load(Ordering::SeqCst), after + 1, "after {time_to_live} s");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn at_most_two_lookups_per_user_run_concurrently() {
        let asked = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&asked);
        let names = Names::new(Arc::new(move |_| {
            counter.fetch_add(1, Ordering::SeqCst);
            std::future::pending().boxed()
        }));
        let look_up = |user, host| names.addresses(user, host).boxed();
        let mut look_ups: Vec<_> = ["a", "b", "c"].map(|host| look_up(USER, host)).into();
        assert!(look_ups.iter_mut().all(|look_up| look_up.now_or_never().is_none()));
        assert_eq!(asked.load(Ordering::SeqCst), 2);
        assert!(look_up(OTHER, "d").now_or_never().is_none());
        assert_eq!(asked.load(Ordering::SeqCst), 3, "another user has turns of their own");
    }

    #[tokio::test(start_paused = true)]
    async fn an_unanswered_lookup_fails_after_five_seconds() {
        let names = Names::new(Arc::new(|_| std::future::pending().boxed()));
        let began = Instant::now();
        let error = names.addresses(USER, "silent.example").await.unwrap_err();
        assert_eq!(error.to_string(), "the name servers gave no answer in time");
        assert_eq!(began.elapsed().as_secs(), 5);
    }
}
