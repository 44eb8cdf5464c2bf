//! Proving an address: a code is sent to it, and who can repeat the code has shown that it is theirs.

use std::sync::Arc;

use time::Duration;

use crate::access::{Action, Caller, Whose};
use crate::challenge::{Challenge, Judged, Purpose};
use crate::people::User;
use crate::ports::{
    Clock, Issued, Logins, Notice, Notifier, People, Profile, Recipient, Secrets, Token, Unavailable,
};
use crate::security_log::EventKind;
use crate::service::desk::Obstacle;
use crate::service::journal::Journal;
use crate::session::{TokenHash, Visitor};
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
    /// Too many were sent: one more may be after this time.
    TooMany(Duration),
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
}

impl Proofs {
    /// Sends a code to the caller's own address, in place of the one before; nothing is sent to an address that was
    /// proven already.
    ///
    /// # Errors
    /// [`SendCodeError`]; a code that could not be sent counts as one.
    pub async fn send_code(&self, caller: &Caller, address: Address) -> Result<(), SendCodeError> {
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
        let hash = self.hash(caller, address, &code);
        let challenge = Challenge::issue(&user, address.purpose(), hash, now);
        match self.logins.issue(&challenge.ok_or(SendCodeError::NoAddress)?).await? {
            Issued::Done => Ok(self.notifier.send(&to, &Notice::Code(code)).await?),
            Issued::TooMany(from) => Err(SendCodeError::TooMany(between(now, from))),
        }
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
        let (hash, now) = (self.hash(caller, address, code), self.clock.now());
        let judged = self.logins.answer(caller.user, address.purpose(), &hash, now).await?;
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

    /// What a code is kept as: the same six digits are something else for another person and for another purpose.
    fn hash(&self, caller: &Caller, address: Address, code: &Token) -> TokenHash {
        let bound = format!("{}:{}:{}", address.purpose().name(), caller.user, code.0);
        self.secrets.fingerprint(&Token(bound))
    }
}

fn between(now: Timestamp, then: Timestamp) -> Duration {
    Duration::microseconds(then.unix_micros().saturating_sub(now.unix_micros()))
}
