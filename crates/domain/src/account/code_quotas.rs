//! Quotas of verification codes: per person and address, and further ones for phones, since each message to a phone
//! costs the deployment money and goes to a number that anybody may have typed.

use core::num::NonZeroU32;

use time::Duration;

use crate::account::session::{Candidates, TokenHash};
use crate::timestamp::Timestamp;

/// The most codes by phone within [`WINDOW`] to one number, whosever account it is in.
pub const PER_NUMBER: u32 = 5;
/// The most codes by phone within [`WINDOW`] that are asked for from one network.
pub const PER_NETWORK: u32 = 20;
/// See [`PER_NUMBER`].
pub const WINDOW: Duration = Duration::days(1);

/// What a code counts against.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CodeQuota {
    /// What one person or address is sent within an hour ([`crate::account::challenge::MOST_ISSUED`]).
    Hour,
    /// What one phone number is sent.
    Number,
    /// What one network asks for.
    Network,
    /// What the deployment sends.
    Deployment,
}

/// A quota that is used up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooMany {
    /// The quota.
    pub quota: CodeQuota,
    /// The most codes within its window.
    pub most: u32,
    /// The moment from which one more code may be sent.
    pub until: Timestamp,
}

impl TooMany {
    /// Of several quotas that are used up, the one that is free last: after that moment a code can be sent.
    pub fn longest(all: impl IntoIterator<Item = Self>) -> Option<Self> {
        all.into_iter().max_by_key(|too_many| too_many.until)
    }
}

/// A code for a phone, as it is counted. Number and network are stored as keyed hashes and without the person, so
/// that the counts reveal nobody and remain after an erasure.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CountedCode {
    /// The number, under each key with which an earlier code may be kept.
    pub number: Candidates<TokenHash>,
    /// The network that it is asked for from, likewise.
    pub network: Candidates<TokenHash>,
    /// The most codes of the deployment within [`WINDOW`]; `None`: any number.
    pub most_of_deployment: Option<NonZeroU32>,
    /// When it is sent.
    pub at: Timestamp,
}

impl CountedCode {
    /// The quotas that it counts against, with the most codes of each within [`WINDOW`].
    pub fn quotas(&self) -> impl Iterator<Item = (CodeQuota, u32)> + use<> {
        let deployment = self.most_of_deployment.map(|most| (CodeQuota::Deployment, most.get()));
        [(CodeQuota::Number, PER_NUMBER), (CodeQuota::Network, PER_NETWORK)].into_iter().chain(deployment)
    }

    /// The moment from which earlier codes count.
    #[must_use]
    pub fn since(&self) -> Timestamp {
        self.at.minus(WINDOW)
    }

    /// Why the code is not sent if the codes of this quota that were sent after [`CountedCode::since`] fill it;
    /// `filled_by` is when the oldest of the newest `most` of them was sent.
    #[must_use]
    pub fn refused(&self, quota: CodeQuota, most: u32, filled_by: Option<Timestamp>) -> Option<TooMany> {
        let until = filled_by?.plus(WINDOW);
        (self.at < until).then_some(TooMany { quota, most, until })
    }
}

/// A code as it is stored, for as long as it counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeptCode {
    /// The number, under the key that signed then.
    pub number: TokenHash,
    /// The network, likewise.
    pub network: TokenHash,
    /// When it was sent.
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
    fn a_code_counts_against_its_number_its_network_and_the_deployment() {
        let quotas = |most| code(NonZeroU32::new(most)).quotas().map(|(_, most)| most).collect::<Vec<_>>();
        assert_eq!((quotas(7), quotas(0)), (vec![5, 20, 7], vec![5, 20]));
        let kept = |number, network, hour| KeptCode {
            number: TokenHash([number; 32]),
            network: TokenHash([network; 32]),
            sent_at: at(hour),
        };
        for (kept, expected) in [
            // Under an earlier key as well.
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
    fn a_full_quota_has_room_a_day_after_the_code_that_filled_it() {
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
