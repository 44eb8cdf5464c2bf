//! Cookies that no session had when they were looked up. Browsers keep such cookies and send them with each request.

use std::sync::{Mutex, PoisonError};

use cuepoint_domain::authorization::Epoch;
use cuepoint_domain::timestamp::Timestamp;
use cuepoint_domain::user::session::TokenHash;
use hashlink::LruCache;
use time::Duration;

/// The maximum number of cookies in memory, of about 100 bytes each. Beyond it, the least recently used one is forgotten.
const MOST: usize = 16_384;
/// The time for which a cookie is remembered. Afterwards, the database that knows it may be back.
const REMEMBERED_FOR: Duration = Duration::MINUTE;

/// The cookies that are remembered as unknown.
pub(super) struct UnknownCookies(Mutex<LruCache<TokenHash, (Epoch, Timestamp)>>);

impl UnknownCookies {
    /// Creates an empty memory.
    pub(super) fn new() -> Self {
        Self(Mutex::new(LruCache::new(MOST)))
    }

    /// Remembers that no session had a cookie in this epoch.
    pub(super) fn remember(&self, cookie: TokenHash, epoch: Epoch, now: Timestamp) {
        let until = now.plus(REMEMBERED_FOR);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(cookie, (epoch, until));
    }

    /// Returns whether no session had this cookie a short time ago in this epoch.
    pub(super) fn contains(&self, cookie: &TokenHash, epoch: Epoch, now: Timestamp) -> bool {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(cookie).is_some_and(|(read_in, until)| *read_in == epoch && now < *until)
    }

    /// Forgets a cookie with which a session began.
    pub(super) fn forget(&self, cookie: &TokenHash) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cookie_is_unknown_for_a_minute_in_one_epoch_unless_a_session_begins_with_it() {
        let (unknown, cookie) = (UnknownCookies::new(), TokenHash([1; 32]));
        let contains = |epoch, passed| unknown.contains(&cookie, Epoch(epoch), Timestamp::EPOCH.plus(passed));
        assert!(!contains(1, Duration::ZERO));
        unknown.remember(cookie, Epoch(1), Timestamp::EPOCH);
        assert!(contains(1, Duration::MINUTE - Duration::MICROSECOND));
        assert!(!contains(1, Duration::MINUTE), "another database may be back");
        assert!(!contains(2, Duration::ZERO), "a restore may have brought it back");
        unknown.forget(&cookie);
        assert!(!contains(1, Duration::ZERO));
    }
}
