//! The counts of one class, for a bounded number of subjects.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use governor::nanos::Nanos;
use governor::state::StateStore;
use hashlink::LruCache;

use super::RateLimitSubject;

/// The maximum number of counted subjects, some ten megabytes.
///
/// Beyond it, the least recently active subject is evicted and regains its whole quota: strangers never cause
/// a refusal, and evicting a count takes this many admitted calls under other subjects.
const MAX_SUBJECTS: usize = 100_000;

/// The time at which each subject's quota is full again; clones share it.
#[derive(Clone)]
pub(super) struct Counts(Arc<Mutex<LruCache<RateLimitSubject, Nanos>>>);

impl Default for Counts {
    fn default() -> Self {
        Self::of_at_most(MAX_SUBJECTS)
    }
}

impl Counts {
    fn of_at_most(subjects: usize) -> Self {
        Self(Arc::new(Mutex::new(LruCache::new(subjects))))
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<RateLimitSubject, Nanos>> {
        // A poisoned lock is safe to use: the value is a single number, so no update can be partial.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refunds one call to a subject: its quota is full earlier by this interval.
    pub(super) fn give_back(&self, subject: &RateLimitSubject, interval: Nanos) {
        if let Some(whole_again) = self.lock().get_mut(subject) {
            *whole_again = whole_again.saturating_sub(interval);
        }
    }
}

impl StateStore for Counts {
    type Key = RateLimitSubject;

    fn measure_and_replace<T, F, E>(&self, subject: &RateLimitSubject, judge: F) -> Result<T, E>
    where
        F: Fn(Option<Nanos>) -> Result<(T, Nanos), E>,
    {
        let mut counts = self.lock();
        let (admitted, whole_again) = judge(counts.get(subject).copied())?;
        counts.insert(*subject, whole_again);
        Ok(admitted)
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    fn number(of: u32) -> RateLimitSubject {
        RateLimitSubject::address(Some(IpAddr::V4(Ipv4Addr::from_bits(of))))
    }

    /// The stored count of a subject, which thereby becomes the most recent one.
    fn seen(counts: &Counts, subject: RateLimitSubject) -> Option<u64> {
        let answer = counts.measure_and_replace(&subject, |known| Ok::<_, ()>((known, Nanos::from(7))));
        answer.unwrap().map(u64::from)
    }

    #[test]
    fn only_the_least_recently_seen_subject_is_evicted() {
        let counts = Counts::default();
        let most = u32::try_from(MAX_SUBJECTS).unwrap();
        for of in 0..most {
            assert_eq!(seen(&counts, number(of)), None);
        }
        assert_eq!(seen(&counts, number(0)), Some(7));
        assert_eq!(seen(&counts, number(most)), None);
        assert_eq!(counts.0.lock().unwrap().len(), MAX_SUBJECTS);
        assert_eq!(seen(&counts, number(0)), Some(7));
        assert_eq!(seen(&counts, number(2)), Some(7));
        assert_eq!(seen(&counts, number(1)), None);
    }

    #[test]
    fn a_refused_subject_counts_as_seen() {
        let counts = Counts::of_at_most(2);
        assert_eq!((seen(&counts, number(1)), seen(&counts, number(2))), (None, None));
        let refused: Result<(), ()> = counts.measure_and_replace(&number(1), |_| Err(()));
        assert_eq!(refused, Err(()));
        assert_eq!(seen(&counts, number(3)), None);
        assert_eq!((seen(&counts, number(1)), seen(&counts, number(2))), (Some(7), None));
    }
}
