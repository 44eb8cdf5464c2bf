//! A password that its owner repeated a short time ago.

use time::Duration;

use crate::ids::SessionId;
use crate::timestamp::Timestamp;

/// A right password, presented in a session: what the session does shortly afterwards needs no other one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecentPassword {
    /// The session in which it was presented.
    pub session: SessionId,
    pub checked_at: Timestamp,
}

impl RecentPassword {
    /// The time for which it counts.
    pub const VALID_FOR: Duration = Duration::minutes(5);

    /// Whether it counts in this session now. The clock of the server that checked it may be ahead.
    #[must_use]
    pub fn counts(self, session: SessionId, now: Timestamp) -> bool {
        self.session == session && now.since(self.checked_at).abs() <= Self::VALID_FOR
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recent_password_counts_for_five_minutes_in_its_session_alone() {
        let session = |id| SessionId::new(id).unwrap();
        let checked_at = Timestamp::EPOCH.plus(Duration::hours(1));
        let recent = RecentPassword { session: session(7), checked_at };
        for (id, seconds, counts) in
            [(7, 0, true), (7, 300, true), (7, 301, false), (7, -1, true), (7, -301, false), (8, 0, false)]
        {
            let now = checked_at.plus(Duration::seconds(seconds));
            assert_eq!(recent.counts(session(id), now), counts, "{id} {seconds}");
        }
    }
}
