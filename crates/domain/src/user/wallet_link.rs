//! Wallet links: the way back to a guest account whose phone or app has lost the session, issued by an operator who
//! compared a payment.

use thiserror::Error;

use crate::timestamp::Timestamp;
use crate::user::User;
use crate::user::challenge::{Challenge, Purpose};

/// The length of the secret of a link in base64: 132 bits.
const SECRET_LENGTH: usize = 22;

/// Why a link opens no wallet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Error)]
pub enum LinkEnd {
    /// There is no such link: it was never issued, or its account was erased.
    #[error("the link is not known")]
    Unknown,
    /// The account was claimed, and its owner logs in.
    #[error("the account was claimed")]
    Claimed,
    /// It was used, a newer link replaced it, or a restore ended it.
    #[error("the link was used or replaced")]
    Used,
    /// Its time is over.
    #[error("the link has expired")]
    Expired,
    /// The account is suspended. The link can be used after the suspension.
    #[error("the account is suspended")]
    Suspended,
}

/// The secret of a link that is made of a random token in base64.
#[must_use]
pub fn secret_of(token: &str) -> String {
    token.chars().take(SECRET_LENGTH).collect()
}

/// Whether this text can be the secret of a link.
#[must_use]
pub fn is_well_formed(secret: &str) -> bool {
    secret.len() == SECRET_LENGTH
        && secret.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl Challenge {
    /// Decides whether this link opens the wallet of its user, in their current state, at `now`.
    ///
    /// # Errors
    /// [`LinkEnd`].
    pub fn opens_wallet(&self, user: &User, now: Timestamp) -> Result<(), LinkEnd> {
        if self.purpose != Purpose::WalletLink || self.user != user.id || !user.is_present() {
            Err(LinkEnd::Unknown)
        } else if !user.is_guest_account() {
            Err(LinkEnd::Claimed)
        } else if self.ended_at.is_some() {
            Err(LinkEnd::Used)
        } else if !self.is_open(now) {
            Err(LinkEnd::Expired)
        } else if user.suspended_at.is_some() {
            Err(LinkEnd::Suspended)
        } else {
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use time::Duration;

    use super::*;
    use crate::ids::UserId;
    use crate::text::Email;
    use crate::user::guest_account::ClaimDetails;
    use crate::user::session::TokenHash;

    fn at(minute: i64) -> Timestamp {
        Timestamp::EPOCH.plus(Duration::minutes(minute))
    }

    fn guest(id: i64) -> User {
        User::guest(UserId::new(id).unwrap(), None, at(0))
    }

    fn claimed() -> User {
        let email = Email::new("ada@example.com").unwrap();
        guest(7).claimed(&ClaimDetails { email, name: None, phone: None }, at(1)).unwrap()
    }

    fn link() -> Challenge {
        Challenge::issue(&guest(7), Purpose::WalletLink, TokenHash([1; 32]), at(0)).unwrap()
    }

    #[test]
    fn a_link_opens_the_wallet_of_its_guest_account_once_within_an_hour() {
        let used = Challenge { ended_at: Some(at(1)), ..link() };
        let code = Challenge { purpose: Purpose::Password, ..link() };
        let suspended = User { suspended_at: Some(at(1)), ..guest(7) };
        let erased = User { erased_at: Some(at(1)), ..guest(7) };
        for (link, user, minute, expected) in [
            (link(), guest(7), 0, Ok(())),
            (link(), guest(7), 59, Ok(())),
            (link(), guest(7), 60, Err(LinkEnd::Expired)),
            (link(), guest(8), 1, Err(LinkEnd::Unknown)),
            (link(), claimed(), 2, Err(LinkEnd::Claimed)),
            (link(), suspended.clone(), 2, Err(LinkEnd::Suspended)),
            (link(), suspended, 60, Err(LinkEnd::Expired)),
            (link(), erased, 2, Err(LinkEnd::Unknown)),
            (used.clone(), guest(7), 2, Err(LinkEnd::Used)),
            (used, claimed(), 2, Err(LinkEnd::Claimed)),
            (code, guest(7), 1, Err(LinkEnd::Unknown)),
        ] {
            assert_eq!(link.opens_wallet(&user, at(minute)), expected, "{link:?} {user:?} {minute}");
        }
    }

    #[test]
    fn members_have_no_link_and_a_link_is_no_answer_to_another_challenge() {
        let hash = TokenHash([1; 32]);
        assert_eq!(Challenge::issue(&claimed(), Purpose::WalletLink, hash, at(0)), None);
        assert_eq!(link().proven(&guest(7), at(1)), guest(7));
    }

    #[test]
    fn the_secret_of_a_link_has_more_than_128_bits() {
        let token = "bntE_GS4RCx0KV37F1UrUOK6KToVtUo03oh9oh-6w1c";
        let secret = secret_of(token);
        assert_eq!(secret, "bntE_GS4RCx0KV37F1UrUO");
        assert!(is_well_formed(&secret));
        for invalid in ["", "bntE", token, &secret.replace('_', "+"), "bntE_GS4RCx0KV37F1UrÜ"] {
            assert!(!is_well_formed(invalid), "{invalid}");
        }
    }
}
