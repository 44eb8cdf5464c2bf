//! The counts of one quota, for a bounded number of subjects, by the generic cell rate algorithm.

use std::num::NonZeroU32;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hashlink::LruCache;

use super::RateLimitSubject;
use super::quota::{Quota, RateLimitStatus};

/// The maximum number of counted subjects, some ten megabytes.
///
/// Beyond it, the least recently active subject is evicted and regains its whole quota: strangers never cause
/// a refusal, and evicting a count takes this many admitted calls under other subjects.
const MAX_SUBJECTS: usize = 100_000;

/// A subject, and how many times the quota it has.
pub(super) type Share = (RateLimitSubject, NonZeroU32);

/// The subjects of one call. All of them must have a call left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    pub(super) first: Share,
    pub(super) second: Option<Share>,
}

impl Shares {
    /// The share of a subject with the plain quota.
    pub(super) const fn of(subject: RateLimitSubject) -> Self {
        Self { first: (subject, NonZeroU32::MIN), second: None }
    }

    /// Adds a subject with this many times the quota.
    pub(super) const fn and(self, subject: RateLimitSubject, times: NonZeroU32) -> Self {
        Self { second: Some((subject, times)), ..self }
    }

    fn iter(self) -> impl Iterator<Item = Share> {
        [Some(self.first), self.second].into_iter().flatten()
    }
}

/// A counted call, which can be given back.
#[derive(Clone, Copy, Debug)]
#[must_use = "a counted call is kept or given back"]
pub(super) struct Taken {
    shares: Shares,
    /// For each subject, the end of the time in which this call is restored.
    restored_at: [Duration; 2],
}

/// The counts of one quota. Times are since any origin, the same for all calls.
pub(super) struct Counts {
    /// The configuration key of the quota.
    resource: &'static str,
    calls: NonZeroU32,
    period: Duration,
    /// The time at which the quota of each subject is full again.
    full_at: Mutex<LruCache<RateLimitSubject, Duration>>,
}

/// The quota of one subject at a time.
#[derive(Clone, Copy)]
struct Bucket {
    limit: u32,
    /// The time in which one call is restored.
    interval: Duration,
    /// The time in which all calls are restored.
    whole: Duration,
}

impl Bucket {
    /// The calls that are left if the quota is full in this time.
    fn remaining(self, until_full: Duration) -> u32 {
        let left = self.whole.saturating_sub(until_full).as_nanos();
        u32::try_from(left.checked_div(self.interval.as_nanos()).unwrap_or_default()).unwrap_or(u32::MAX)
    }
}

impl Counts {
    pub(super) fn per_minute(resource: &'static str, calls: NonZeroU32) -> Self {
        Self::per(Duration::from_secs(60), resource, calls)
    }

    pub(super) fn per_hour(resource: &'static str, calls: NonZeroU32) -> Self {
        Self::per(Duration::from_secs(3_600), resource, calls)
    }

    fn per(period: Duration, resource: &'static str, calls: NonZeroU32) -> Self {
        Self { resource, calls, period, full_at: Mutex::new(LruCache::new(MAX_SUBJECTS)) }
    }

    fn lock(&self) -> MutexGuard<'_, LruCache<RateLimitSubject, Duration>> {
        // A poisoned lock is safe to use: each value is a single number, so no update can be partial.
        self.full_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bucket(&self, times: NonZeroU32) -> Bucket {
        let limit = self.calls.saturating_mul(times).get();
        let interval = self.period.checked_div(limit).unwrap_or_default().max(Duration::from_nanos(1));
        Bucket { limit, interval, whole: interval.saturating_mul(limit) }
    }

    /// Counts a call for each of its subjects, or for none of them. The status is that of the subject with the
    /// fewest calls left.
    ///
    /// # Errors
    /// The exhausted quota that is available again last.
    pub(super) fn take(&self, shares: Shares, now: Duration) -> Result<(RateLimitStatus, Taken), Quota> {
        let mut full_at = self.lock();
        let (mut refusal, mut tightest): (Option<Quota>, Option<RateLimitStatus>) = (None, None);
        let mut restored_at = [now; 2];
        for ((subject, times), restored_at) in shares.iter().zip(&mut restored_at) {
            let bucket = self.bucket(times);
            // A refused subject counts as seen.
            let begins_at = full_at.get(&subject).copied().unwrap_or(now).max(now);
            *restored_at = begins_at.saturating_add(bucket.interval);
            let until_full = restored_at.saturating_sub(now);
            if until_full > bucket.whole {
                let quota = Quota {
                    resource: self.resource,
                    limit: bucket.limit,
                    retry_after_seconds: whole_seconds(until_full.saturating_sub(bucket.whole)).max(1),
                    reset_seconds: whole_seconds(begins_at.saturating_sub(now)),
                };
                let is_longer = |other: &Quota| other.retry_after_seconds < quota.retry_after_seconds;
                if refusal.as_ref().is_none_or(is_longer) {
                    refusal = Some(quota);
                }
            } else {
                let status = RateLimitStatus {
                    resource: self.resource,
                    limit: bucket.limit,
                    remaining: bucket.remaining(until_full),
                    reset_seconds: whole_seconds(until_full),
                };
                if tightest.is_none_or(|other| status.remaining < other.remaining) {
                    tightest = Some(status);
                }
            }
        }
        if let Some(quota) = refusal {
            return Err(quota);
        }
        for ((subject, _), restored_at) in shares.iter().zip(restored_at) {
            full_at.insert(subject, restored_at);
        }
        let (resource, limit) = (self.resource, self.calls.get());
        let full = RateLimitStatus { resource, limit, remaining: limit, reset_seconds: 0 };
        Ok((tightest.unwrap_or(full), Taken { shares, restored_at }))
    }

    /// Gives a call back, as far as time has not restored it already: a call that is given back late adds
    /// nothing to the quota.
    pub(super) fn give_back(&self, taken: Taken, now: Duration) {
        let Taken { shares, restored_at } = taken;
        let mut full_at = self.lock();
        for ((subject, times), restored_at) in shares.iter().zip(restored_at) {
            let missing = restored_at.saturating_sub(now).min(self.bucket(times).interval);
            let Some(end) = full_at.peek_mut(&subject) else { continue };
            *end = end.saturating_sub(missing);
            // Otherwise invented names whose attempts are given back would evict counts.
            if *end <= now {
                full_at.remove(&subject);
            }
        }
    }
}

/// A time in seconds, rounded up.
fn whole_seconds(time: Duration) -> u32 {
    let seconds = time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0));
    u32::try_from(seconds).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};

    use super::*;

    const fn seconds(count: u64) -> Duration {
        Duration::from_secs(count)
    }

    /// Five calls a minute.
    fn five() -> Counts {
        Counts::per_minute("five_per_minute", NonZeroU32::new(5).unwrap())
    }

    fn subject(of: u32) -> RateLimitSubject {
        RateLimitSubject::EmailFrom(
            0,
            Some(cuepoint_domain::network::ClientNetwork::of(IpAddr::V4(Ipv4Addr::from_bits(of)))),
        )
    }

    fn taken(counts: &Counts, of: u32, now: Duration) -> Taken {
        counts.take(Shares::of(subject(of)), now).unwrap().1
    }

    /// The number of calls that are admitted at this time.
    fn admitted(counts: &Counts, of: u32, now: Duration) -> usize {
        (0..20).take_while(|_| counts.take(Shares::of(subject(of)), now).is_ok()).count()
    }

    #[test]
    fn a_quota_reports_its_remainder_and_reset_time() {
        let counts = five();
        // Each line: the time of a call in milliseconds, then what remains after it and the seconds until it is full.
        for (now, remaining, reset_seconds) in [
            (0, 4, 12),
            (0, 3, 24),
            (1, 2, 36),
            (11_999, 1, 37),
            (12_000, 1, 48),
            (59_000, 3, 13),
            (600_000, 4, 12),
        ] {
            let (status, _) = counts.take(Shares::of(subject(1)), Duration::from_millis(now)).unwrap();
            let expected =
                RateLimitStatus { resource: "five_per_minute", limit: 5, remaining, reset_seconds };
            assert_eq!(status, expected, "at {now} ms");
        }
        assert_eq!(admitted(&counts, 2, seconds(0)), 5);
        for (now, retry_after_seconds, reset_seconds) in
            [(0, 12, 60), (500, 12, 60), (1_000, 11, 59), (11_999, 1, 49)]
        {
            let refusal = counts.take(Shares::of(subject(2)), Duration::from_millis(now)).unwrap_err();
            let expected =
                Quota { resource: "five_per_minute", limit: 5, retry_after_seconds, reset_seconds };
            assert_eq!(refusal, expected, "at {now} ms");
        }
        assert_eq!(admitted(&counts, 2, seconds(12)), 1);
    }

    #[test]
    fn giving_back_a_call_restores_only_its_own_share() {
        // The time at which five calls at 0 s are given back, and the calls that are admitted then.
        for (now, expected) in [(0, 5), (6, 5), (30, 5), (60, 5), (3_600, 5)] {
            let counts = five();
            let calls: Vec<_> = (0..5).map(|_| taken(&counts, 1, seconds(0))).collect();
            calls.into_iter().for_each(|call| counts.give_back(call, seconds(now)));
            assert_eq!(admitted(&counts, 1, seconds(now)), expected, "at {now} s");
        }
        // Calls that were restored by time cannot be given back on top of others.
        let counts = five();
        let early: Vec<_> = (0..5).map(|_| taken(&counts, 1, seconds(0))).collect();
        assert_eq!(admitted(&counts, 1, seconds(60)), 5);
        early.into_iter().for_each(|call| counts.give_back(call, seconds(60)));
        assert_eq!(admitted(&counts, 1, seconds(60)), 0);
    }

    #[test]
    fn a_call_counts_for_all_its_subjects_or_none() {
        let counts = five();
        let both = |own| Shares::of(subject(own)).and(subject(99), NonZeroU32::new(2).unwrap());
        let took = |own, now| (0..20).take_while(|_| counts.take(both(own), now).is_ok()).count();
        assert_eq!([1, 2, 3].map(|own| took(own, seconds(0))), [5, 5, 0]);
        assert_eq!(admitted(&counts, 3, seconds(0)), 5, "the refused calls did not count");
        let (status, call) = counts.take(both(1), seconds(12)).unwrap();
        assert_eq!((status.limit, status.remaining), (5, 0));
        counts.give_back(call, seconds(12));
        assert_eq!([1, 2, 3].map(|own| took(own, seconds(12))), [1, 1, 0]);
        // The refusal names the quota that is available again last.
        assert_eq!(counts.take(both(1), seconds(12)).unwrap_err().retry_after_seconds, 12);
    }

    #[test]
    fn only_the_least_recently_seen_subject_is_evicted() {
        let counts = Counts { full_at: Mutex::new(LruCache::new(2)), ..five() };
        let at = seconds(0);
        assert_eq!((admitted(&counts, 1, at), admitted(&counts, 2, at)), (5, 5));
        // The refusal counts as seen.
        assert_eq!(admitted(&counts, 1, at), 0);
        assert_eq!(admitted(&counts, 3, at), 5);
        assert_eq!((admitted(&counts, 1, at), admitted(&counts, 2, at)), (0, 5));
    }

    #[test]
    fn the_number_of_subjects_is_bounded() {
        let counts = five();
        let most = u32::try_from(MAX_SUBJECTS).unwrap();
        for of in 0..=most {
            let _ = taken(&counts, of, seconds(0));
        }
        assert_eq!(counts.lock().len(), MAX_SUBJECTS);
    }
}
