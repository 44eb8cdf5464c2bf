//! Proving an address: a code is sent to it, and who can repeat the code has shown that it is theirs.

use std::num::NonZeroU32;
use std::sync::Arc;

use time::Duration;

use crate::access::{Action, Caller, Whose};
use crate::challenge::{Challenge, Judged, Purpose};
use crate::code_quotas::{CodeQuota, CountedCode, TooMany};
use crate::people::User;
use crate::ports::{
    Clock, Guessable, Issued, Logins, Notice, Notifier, People, Profile, Recipient, Secrets, Token,
    Unavailable,
};
use crate::security_log::EventKind;
use crate::service::desk::Obstacle;
use crate::service::journal::Journal;
use crate::session::{Candidates, TokenHash, Visitor};
use crate::timestamp::Timestamp;

/// An address that can be proven.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Address {
    /// The e-mail address.
    Email,
    /// The phone number.
    Phone,
}

impl Address {
    const fn purpose(self) -> Purpose {
        match self {
            Self::Email => Purpose::Email,
            Self::Phone => Purpose::Phone,
        }
    }

    const fn event(self) -> EventKind {
        match self {
            Self::Email => EventKind::EmailVerified,
            Self::Phone => EventKind::PhoneVerified,
        }
    }

    const fn is_proven(self, user: &User) -> bool {
        match self {
            Self::Email => user.email_verified,
            Self::Phone => user.phone_verified,
        }
    }

    fn of(self, user: &User) -> Option<Recipient> {
        match self {
            Self::Email => Some(Recipient::Email(user.email.clone())),
            Self::Phone => user.phone.clone().map(Recipient::Phone),
        }
    }
}

/// Why no code is sent.
#[derive(Debug)]
pub enum SendCodeError {
    /// The caller has no such address.
    NoAddress,
    /// This deployment sends nothing there.
    NotHere,
    /// Too many were sent: as many as this within the window, and one more may be after this time.
    TooMany {
        /// How many may be sent.
        most: u32,
        /// How long to wait.
        wait: Duration,
    },
    /// The deployment has sent all the codes by phone that it sends within a day: one more may be after this time.
    BudgetSpent(Duration),
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

/// Why a code proves nothing.
#[derive(Debug)]
pub enum VerifyError {
    /// It is not the newest one, was used, is too old, was sent to another address, or too many were tried.
    Refused,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

macro_rules! from_obstacles {
    ($($error:ident),+) => {$(
        impl From<Obstacle> for $error {
            fn from(obstacle: Obstacle) -> Self {
                Self::Obstacle(obstacle)
            }
        }

        impl From<Unavailable> for $error {
            fn from(unavailable: Unavailable) -> Self {
                Self::Obstacle(unavailable.into())
            }
        }
    )+};
}

from_obstacles!(SendCodeError, VerifyError);

/// The use cases of proving an address.
#[derive(Clone)]
pub struct Proofs {
    pub(super) people: Arc<dyn People>,
    pub(super) logins: Arc<dyn Logins>,
    pub(super) journal: Journal,
    pub(super) secrets: Arc<dyn Secrets>,
    pub(super) notifier: Arc<dyn Notifier>,
    pub(super) clock: Arc<dyn Clock>,
    /// The most codes by phone within a day; `None`: any number.
    pub(super) phone_codes_per_day: Option<NonZeroU32>,
}

impl Proofs {
    /// Sends a code to the caller's own address, in place of the one before; nothing is sent to an address that was
    /// proven already. What is sent to phones is also counted for the number, the caller's network and the deployment.
    ///
    /// # Errors
    /// [`SendCodeError`]; a code that could not be sent counts as one.
    pub async fn send_code(
        &self,
        caller: &Caller,
        address: Address,
        visitor: &Visitor,
    ) -> Result<(), SendCodeError> {
        caller.may(Action::UseAccount, Whose::Own).map_err(Obstacle::from)?;
        let Profile { user, .. } = self.profile(caller).await?;
        if address.is_proven(&user) {
            return Ok(());
        }
        let to = address.of(&user).ok_or(SendCodeError::NoAddress)?;
        if !self.notifier.can_reach(&to) {
            return Err(SendCodeError::NotHere);
        }
        let (code, now) = (self.secrets.code(), self.clock.now());
        let hash = self.hashes(caller, address, &code, now)?.current;
        let challenge = Challenge::issue(&user, address.purpose(), hash, now);
        let challenge = challenge.ok_or(SendCodeError::NoAddress)?;
        let counted = match &to {
            Recipient::Phone(number) => Some(self.counted(number.as_str(), visitor, now)?),
            Recipient::Email(_) => None,
        };
        match self.logins.issue(&challenge, counted.as_ref()).await? {
            Issued::Done => Ok(self.notifier.send(&to, &Notice::Code(code)).await?),
            Issued::TooMany(TooMany { quota, most, until }) => Err(match quota {
                CodeQuota::Deployment => SendCodeError::BudgetSpent(between(now, until)),
                CodeQuota::Hour | CodeQuota::Number | CodeQuota::Network => {
                    SendCodeError::TooMany { most, wait: between(now, until) }
                }
            }),
        }
    }

    /// A code to this number, as it is counted. Numbers that differ in their digits alone are two.
    fn counted(&self, number: &str, visitor: &Visitor, now: Timestamp) -> Result<CountedCode, Unavailable> {
        let digits: String = number.chars().filter(char::is_ascii_digit).collect();
        // All clients whose network is unknown are one.
        let network = visitor.network().map(|network| network.to_string()).unwrap_or_default();
        Ok(CountedCode {
            number: self.secrets.keyed_hashes(Guessable::PhoneNumber, &digits, now)?,
            network: self.secrets.keyed_hashes(Guessable::Network, &network, now)?,
            most_of_deployment: self.phone_codes_per_day,
            at: now,
        })
    }

    /// Takes a code that was sent to the caller's address; answers with the caller as they are then.
    ///
    /// # Errors
    /// [`VerifyError`].
    pub async fn verify(
        &self,
        caller: &Caller,
        address: Address,
        code: &Token,
        visitor: Visitor,
    ) -> Result<Profile, VerifyError> {
        caller.may(Action::UseAccount, Whose::Own).map_err(Obstacle::from)?;
        // Read first: an outage must not use the code up.
        let mut profile = self.profile(caller).await?;
        let now = self.clock.now();
        let mut hashes: Vec<TokenHash> = self.hashes(caller, address, code, now)?.iter().copied().collect();
        // A code that an earlier version sent a few minutes ago is kept without a key.
        hashes.push(self.secrets.fingerprint(&bound(caller, address, code)));
        let judged = self.logins.answer(caller.user, address.purpose(), &hashes, now).await?;
        let kind = if judged == Judged::Right { address.event() } else { EventKind::CodeRefused };
        self.journal.by(caller, kind, visitor).await;
        if judged != Judged::Right {
            return Err(VerifyError::Refused);
        }
        match address {
            Address::Email => profile.user.email_verified = true,
            Address::Phone => profile.user.phone_verified = true,
        }
        Ok(profile)
    }

    async fn profile(&self, caller: &Caller) -> Result<Profile, Obstacle> {
        self.people.profile(caller.user).await?.ok_or(Obstacle::UnknownCaller)
    }

    /// What a code is kept as.
    fn hashes(
        &self,
        caller: &Caller,
        address: Address,
        code: &Token,
        now: Timestamp,
    ) -> Result<Candidates<TokenHash>, Unavailable> {
        self.secrets.keyed_hashes(Guessable::Code, &bound(caller, address, code).0, now)
    }
}

/// A code with whom and what it is for: the same six digits are something else for another person and for another purpose.
fn bound(caller: &Caller, address: Address, code: &Token) -> Token {
    Token(format!("{}:{}:{}", address.purpose().name(), caller.user, code.0))
}

fn between(now: Timestamp, then: Timestamp) -> Duration {
    Duration::microseconds(then.unix_micros().saturating_sub(now.unix_micros()))
}
