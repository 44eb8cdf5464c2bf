//! Guest accounts: users who scanned a code. They have no e-mail address and no password until they claim the account.

use time::Duration;

use crate::checksum::sha256;
use crate::ids::UserId;
use crate::text::{Email, Line, Phone};
use crate::timestamp::Timestamp;
use crate::user::{Role, User};

/// The name of a guest account that was created without one.
const NAME: &str = "Guest";

/// The beginning of the stored address of a guest account. Without a domain, nobody can register it.
const ADDRESS_PREFIX: &str = "guest-";

/// The digest of the Idempotency-Key with which a guest account is created.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct GuestKey(pub [u8; 32]);

impl std::fmt::Debug for GuestKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("GuestKey([hidden])")
    }
}

impl GuestKey {
    /// The minimum length of a key: 128 random bits in base64.
    pub const MIN_CHARACTERS: usize = 22;

    /// The digest of a key; `None` for one that is too short to be unguessable.
    #[must_use]
    pub fn new(key: &str) -> Option<Self> {
        (key.len() >= Self::MIN_CHARACTERS).then(|| Self(sha256(key.as_bytes())))
    }
}

/// A time before now, in minutes: 1 to 720.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RecentMinutes(u16);

impl RecentMinutes {
    /// The maximum.
    pub const MAX: u16 = 720;

    /// The time; `None` unless it is 1 to 720 minutes.
    #[must_use]
    pub fn new(minutes: i64) -> Option<Self> {
        let minutes = u16::try_from(minutes).ok()?;
        (1..=Self::MAX).contains(&minutes).then_some(Self(minutes))
    }

    /// The time as a duration.
    #[must_use]
    pub fn duration(self) -> Duration {
        Duration::minutes(self.0.into())
    }
}

/// How far a guest account is trusted. New ones cost nothing, so that one phone can create many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GuestTrust {
    /// It was created recently, without a payment.
    New,
    /// It was created at least [`Self::OLD_AFTER`] ago, without a payment.
    Old,
    /// Its wallet has money, or had a payment.
    Paid,
}

impl GuestTrust {
    /// The age from which an account is old.
    pub const OLD_AFTER: Duration = Duration::minutes(15);

    /// The trust in an account that was created at this time.
    #[must_use]
    pub fn of(has_money: bool, created_at: Timestamp, now: Timestamp) -> Self {
        if has_money {
            Self::Paid
        } else if now.since(created_at) >= Self::OLD_AFTER {
            Self::Old
        } else {
            Self::New
        }
    }
}

/// What a guest adds to claim the account.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ClaimDetails {
    /// The e-mail address.
    pub email: Email,
    /// A new display name.
    pub name: Option<Line>,
    /// The phone number.
    pub phone: Option<Phone>,
}

/// The outcome of claiming an account.
#[derive(Clone, PartialEq, Debug)]
pub enum Claimed {
    /// The account is this member.
    Done(Box<User>),
    /// Another user has this e-mail address or can restore it.
    EmailTaken,
    /// The account is no guest account, or the session ended.
    NotAGuest,
}

impl User {
    /// A new guest account.
    #[must_use]
    pub fn guest(id: UserId, name: Option<Line>, at: Timestamp) -> Self {
        let name = name.unwrap_or_else(|| Line::from_stored(NAME.to_owned()));
        let email = Email::from_stored(format!("{ADDRESS_PREFIX}{id}"));
        Self { role: Role::Guest, ..Self::registered(id, name, email, None, false, at) }
    }

    /// Whether it is a guest account.
    #[must_use]
    pub fn is_guest_account(&self) -> bool {
        self.role == Role::Guest
    }

    /// The e-mail address as shown. The address of a guest account is in [`Email::GUEST_DOMAIN`].
    #[must_use]
    pub fn shown_email(&self) -> String {
        let email = self.email.as_str();
        if self.is_guest_account() { format!("{email}@{}", Email::GUEST_DOMAIN) } else { email.to_owned() }
    }

    /// The member that a guest account becomes with these details; `None` for every other user. Issued tokens get the
    /// new role.
    #[must_use]
    pub fn claimed(&self, details: &ClaimDetails, at: Timestamp) -> Option<Self> {
        if !self.is_guest_account() || !self.is_present() || self.suspended_at.is_some() {
            return None;
        }
        let ClaimDetails { email, name, phone } = details.clone();
        let mut member = Self {
            role: Role::Member,
            email,
            name: name.unwrap_or_else(|| self.name.clone()),
            phone: phone.map(Line::from),
            ..self.clone()
        };
        member.note_status_change(at);
        Some(member)
    }
}

/// The stored form of an e-mail address by which staff search a user, folded by [`Email::folded`].
#[must_use]
pub fn searched_address(email: &Email) -> String {
    let folded = email.folded();
    match folded.strip_suffix(Email::GUEST_DOMAIN).and_then(|name| name.strip_suffix('@')) {
        Some(name) if name.starts_with(ADDRESS_PREFIX) => name.to_owned(),
        _ => folded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::EPOCH;

    fn guest() -> User {
        User::guest(UserId::new(7).unwrap(), None, NOW)
    }

    fn details() -> ClaimDetails {
        let (email, phone) = (Email::new("ada@example.com").unwrap(), Phone::new("+4930123456").unwrap());
        ClaimDetails { email, name: None, phone: Some(phone) }
    }

    #[test]
    fn a_guest_account_has_an_address_that_nobody_can_register() {
        let guest = guest();
        assert_eq!((guest.name.as_str(), guest.email.as_str()), ("Guest", "guest-7"));
        assert!(Email::new(guest.email.as_str()).is_err() && guest.dj.is_none());
        assert_eq!(guest.shown_email(), "guest-7@guest.invalid");
        assert!(Email::to_own(&guest.shown_email()).is_err());
    }

    #[test]
    fn a_payment_or_age_makes_an_account_trusted() {
        let later = |seconds| NOW.plus(Duration::seconds(seconds));
        for (has_money, now, trust) in [
            (false, NOW, GuestTrust::New),
            (false, later(899), GuestTrust::New),
            (false, later(900), GuestTrust::Old),
            (false, later(-1), GuestTrust::New),
            (true, NOW, GuestTrust::Paid),
        ] {
            assert_eq!(GuestTrust::of(has_money, NOW, now), trust, "{now:?}");
        }
    }

    #[test]
    fn staff_find_a_guest_account_by_its_shown_address() {
        for (shown, stored) in [
            ("Guest-7@GUEST.invalid", "guest-7"),
            ("Ada@example.com", "ada@example.com"),
            ("ada@guest.invalid", "ada@guest.invalid"),
        ] {
            assert_eq!(searched_address(&Email::new(shown).unwrap()), stored);
        }
    }

    #[test]
    fn a_claimed_account_is_a_member_with_the_new_address_and_keeps_its_name() {
        let member = guest().claimed(&details(), NOW).unwrap();
        assert_eq!((member.role, member.name.as_str()), (Role::Member, "Guest"));
        assert_eq!(member.shown_email(), "ada@example.com");
        assert_eq!(member.phone.as_ref().unwrap().as_str(), "+4930123456");
        assert!(!member.email_verified && !member.phone_verified);
        assert_eq!(member.status_changed_at, Some(NOW), "issued tokens get the new role");
        let named = ClaimDetails { name: Some(Line::new("Ada").unwrap()), ..details() };
        assert_eq!(guest().claimed(&named, NOW).unwrap().name.as_str(), "Ada");
    }

    #[test]
    fn members_and_suspended_and_erased_guest_accounts_cannot_claim() {
        let member = guest().claimed(&details(), NOW).unwrap();
        let suspended = User { suspended_at: Some(NOW), ..guest() };
        let erased = User { erased_at: Some(NOW), ..guest() };
        for user in [member, suspended, erased] {
            assert_eq!(user.claimed(&details(), NOW), None, "{user:?}");
        }
    }

    #[test]
    fn keys_of_fewer_than_128_bits_create_no_guest_account() {
        assert!(GuestKey::new(&"k".repeat(21)).is_none());
        assert_ne!(GuestKey::new(&"k".repeat(22)), GuestKey::new(&"k".repeat(23)));
    }
}
