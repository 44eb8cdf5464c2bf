//! Quotas of verification codes: per user and address, and further ones for phones, because each text message
//! costs the deployment money and goes to an unverified number.

use core::num::NonZeroU32;

use time::Duration;

use crate::timestamp::Timestamp;
use crate::user::session::{Candidates, TokenHash};

/// The maximum number of codes by phone within [`WINDOW`] to one number, across all users.
pub const PER_NUMBER: u32 = 5;
/// The maximum number of codes by phone within [`WINDOW`] requested from one network.
pub const PER_NETWORK: u32 = 20;
/// See [`PER_NUMBER`].
pub const WINDOW: Duration = Duration::days(1);

/// A quota that a code counts against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeQuota {
    /// Codes per user or address within an hour ([`crate::user::challenge::MAX_ISSUED`]).
    Hour,
    /// Codes per phone number.
    Number,
    /// Codes per requesting network.
    Network,
    /// Codes of the whole deployment.
    Deployment,
}

/// An exhausted quota.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany {
    pub quota: CodeQuota,
    /// The maximum number of codes within its window.
    pub most: u32,
    /// The time from which another code may be sent.
    pub until: Timestamp,
}

impl TooMany {
    /// The exhausted quota that is available again last: after that time a code can be sent.
    pub fn longest(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().max_by_key(|too_many| too_many.until)
    }
}

/// A code by phone, as counted. Number and network are stored as keyed hashes without the user, so that the
/// counts identify no user and survive an erasure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CountedCode {
    /// The number, hashed under each key under which an earlier code may be stored.
    pub number: Candidates<TokenHash>,
    /// The requesting network, hashed in the same way.
    pub network: Candidates<TokenHash>,
    /// The maximum number of codes of the deployment within [`WINDOW`]; `None` means no limit.
    pub most_of_deployment: Option<NonZeroU32>,
    /// The time of sending.
    pub at: Timestamp,
}

impl CountedCode {
    /// The quotas that it counts against, with the limit of each within [`WINDOW`].
    pub fn quotas(&self) -> impl Iterator<Item = (CodeQuota, u32)> + use<> {
        let deployment = self.most_of_deployment.map(|most| (CodeQuota::Deployment, most.get()));
        [(CodeQuota::Number, PER_NUMBER), (CodeQuota::Network, PER_NETWORK)].into_iter().chain(deployment)
    }

    /// The time from which earlier codes count.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        self.at.minus(WINDOW)
    }

    /// Returns the quota as exhausted if the codes sent after [`CountedCode::since`] fill it; `filled_by` is
    /// the time of the oldest among the newest `most` of them.
    #[must_use]
    pub fn refused(&self, quota: CodeQuota, most: u32, filled_by: Option<Timestamp>) -> Option<TooMany> {
        let until = filled_by?.plus(WINDOW);
        (self.at < until).then_some(TooMany { quota, most, until })
    }
}

/// A code as stored while it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptCode {
    /// The number, hashed under the signing key of that time.
    pub number: TokenHash,
    /// The network, hashed under the same key.
    pub network: TokenHash,
    /// The time of sending.
    pub sent_at: Timestamp,
}

impl From<&CountedCode> for KeptCode {
    fn from(code: &CountedCode) -> Self {
        Self { number: code.number.current, network: code.network.current, sent_at: code.at }
    }
}

impl KeptCode {
    /// Whether it counts against a quota of this code.
    #[must_use]
    pub fn counts(&self, quota: CodeQuota, code: &CountedCode) -> bool {
        self.sent_at > code.since()
            && match quota {
                CodeQuota::Number => code.number.iter().any(|number| *number == self.number),
                CodeQuota::Network => code.network.iter().any(|network| *network == self.network),
                CodeQuota::Deployment => true,
                CodeQuota::Hour => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(hour: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::hours(hour))
    }

    fn code(most_of_deployment: Option<NonZeroU32>) -> CountedCode {
        let under = |number| Candidates {
            current: TokenHash([number; 32]),
            others: vec![TokenHash([number.saturating_add(1); 32])],
        };
        CountedCode { number: under(1), network: under(3), most_of_deployment, at: at(30) }
    }

    #[test]
    fn codes_are_counted_per_phone_number_network_and_deployment() {
        let quotas = |most| code(NonZeroU32::new(most)).quotas().map(|(_, most)| most).collect::<Vec<_>>();
        assert_eq!((quotas(7), quotas(0)), (vec![5, 20, 7], vec![5, 20]));
        let kept = |number, network, hour| KeptCode {
            number: TokenHash([number; 32]),
            network: TokenHash([network; 32]),
            sent_at: at(hour),
        };
        for (kept, expected) in [
            // Also under an earlier key.
            (kept(2, 9, 7), [true, false, true]),
            (kept(9, 4, 7), [false, true, true]),
            (kept(9, 9, 30), [false, false, true]),
            (kept(1, 3, 6), [false, false, false]),
        ] {
            let all = [CodeQuota::Number, CodeQuota::Network, CodeQuota::Deployment];
            assert_eq!(all.map(|quota| kept.counts(quota, &code(None))), expected, "{kept:?}");
        }
    }

    #[test]
    fn an_exhausted_code_quota_is_available_again_after_a_day() {
        let refused = |filled_by| code(None).refused(CodeQuota::Number, 5, filled_by);
        assert_eq!(refused(None), None);
        assert_eq!(refused(Some(at(6))), None);
        let full = TooMany { quota: CodeQuota::Number, most: 5, until: at(31) };
        assert_eq!(refused(Some(at(7))), Some(full));
        let later = TooMany { quota: CodeQuota::Network, most: 20, until: at(32) };
        assert_eq!(TooMany::longest([full, later, full]), Some(later));
        assert_eq!(TooMany::longest([]), None);
    }
}
