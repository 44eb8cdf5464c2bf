//! E-mail and phone verification: a code is sent to an address, and its owner repeats the code.

use std::sync::Arc;

use time::Duration;

use thiserror::Error;

use crate::application::environment::Environment;
use crate::application::error::{CommandError, Failure};
use crate::application::executor::{Context, Executor};
use crate::authorization::Principal;
use crate::authorization::permission::UseCredentials;
use crate::ports::{IssueOutcome, LowEntropyValue, Notice, Profile, Recipient, Token, Unavailable};
use crate::security_log::SecurityEventKind;
use crate::timestamp::Timestamp;
use crate::user::User;
use crate::user::challenge::{AnswerOutcome, Challenge, Purpose};
use crate::user::code_quotas::{CodeQuota, CountedCode, TooMany};
use crate::user::session::{Candidates, ClientInfo, TokenHash};

/// An address that can be verified.
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

    const fn event(self) -> SecurityEventKind {
        match self {
            Self::Email => SecurityEventKind::EmailVerified,
            Self::Phone => SecurityEventKind::PhoneVerified,
        }
    }

    const fn is_verified(self, user: &User) -> bool {
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
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum SendCodeRefusal {
    /// The principal has no such address.
    #[error("the user has no such address")]
    NoAddress,
    /// This deployment sends no messages of this kind.
    #[error("messages to such addresses are not offered")]
    NotOffered,
    /// The quota is used up: this many were sent within the window, and one more is allowed after this time.
    #[error("{most} codes were sent already")]
    TooMany {
        quota: CodeQuota,
        /// The maximum number of codes.
        most: u32,
        /// The time to wait.
        wait: Duration,
    },
    /// The deployment's daily quota of codes by phone is used up: one more is allowed after this time.
    #[error("the deployment has sent all codes of a day")]
    BudgetSpent(Duration),
}

/// Why a code is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum VerifyRefusal {
    /// It is not the newest one, was used, has expired, was sent to another address, or too many attempts
    /// were made.
    #[error("the code is invalid or has expired")]
    InvalidCode,
}

/// Sends and verifies codes.
#[derive(Clone)]
pub struct Verifications {
    pub(in crate::application) env: Arc<Environment>,
    pub(in crate::application) executor: Executor,
}

impl Verifications {
    /// Sends a code to the principal's own address and invalidates the previous one; a verified address is
    /// sent nothing. Codes to phones also count against the quotas of the number, the client's network and
    /// the deployment.
    ///
    /// # Errors
    /// [`SendCodeRefusal`]; a code that could not be sent counts as well.
    pub async fn send_code(
        &self,
        context: &Context,
        address: Address,
    ) -> Result<(), CommandError<SendCodeRefusal>> {
        self.executor
            .perform::<UseCredentials, _, _>(context, async |_, principal, _| {
                self.issue(principal, address, &context.client).await
            })
            .await
    }

    async fn issue(
        &self,
        principal: &Principal,
        address: Address,
        client: &ClientInfo,
    ) -> Result<(), CommandError<SendCodeRefusal>> {
        let env = &self.env;
        let Profile { user, .. } = self.profile(principal).await?;
        if address.is_verified(&user) {
            return Ok(());
        }
        let no_address = || CommandError::Refused(SendCodeRefusal::NoAddress);
        let to = address.of(&user).ok_or_else(no_address)?;
        if !env.ports.notifier.can_reach(&to) {
            return Err(CommandError::Refused(SendCodeRefusal::NotOffered));
        }
        let (code, now) = (env.ports.secrets.code(), env.now());
        let hash = self.hashes(principal, address, &code, now)?.current;
        let challenge = Challenge::issue(&user, address.purpose(), hash, now);
        let challenge = challenge.ok_or_else(no_address)?;
        let counted = match &to {
            Recipient::Phone(number) => Some(self.counted(number.as_str(), client, now)?),
            Recipient::Email(_) => None,
        };
        match env.logins.issue(&challenge, counted.as_ref()).await? {
            IssueOutcome::Done => Ok(env.ports.notifier.send(&to, &Notice::Code(code)).await?),
            IssueOutcome::NotYet => Err(CommandError::Refused(SendCodeRefusal::NotOffered)),
            IssueOutcome::TooMany(TooMany { quota, most, until }) => {
                Err(CommandError::Refused(match quota {
                    CodeQuota::Deployment => SendCodeRefusal::BudgetSpent(between(now, until)),
                    CodeQuota::Hour | CodeQuota::Number | CodeQuota::Network => {
                        SendCodeRefusal::TooMany { quota, most, wait: between(now, until) }
                    }
                }))
            }
        }
    }

    /// The counted form of a code to this number. Numbers count as different only if their digits differ.
    fn counted(&self, number: &str, client: &ClientInfo, now: Timestamp) -> Result<CountedCode, Unavailable> {
        let digits: String = number.chars().filter(char::is_ascii_digit).collect();
        // All clients with an unknown network count as one.
        let network = client.network().map(|network| network.to_string()).unwrap_or_default();
        Ok(CountedCode {
            number: self.env.ports.secrets.keyed_hashes(LowEntropyValue::PhoneNumber, &digits, now)?,
            network: self.env.ports.secrets.keyed_hashes(LowEntropyValue::Network, &network, now)?,
            most_of_deployment: self.env.terms.phone_codes_per_day,
            at: now,
        })
    }

    /// Verifies a code that was sent to the principal's address; returns the principal's profile afterwards.
    ///
    /// # Errors
    /// [`VerifyRefusal`].
    pub async fn verify(
        &self,
        context: &Context,
        address: Address,
        code: &Token,
    ) -> Result<Profile, CommandError<VerifyRefusal>> {
        let env = &self.env;
        self.executor
            .perform::<UseCredentials, _, _>(context, async |own, principal, _| {
                // Read first: an outage must not use the code up.
                let mut profile = self.profile(principal).await?;
                let now = env.now();
                let hashes = self.hashes(principal, address, code, now)?;
                let mut hashes: Vec<TokenHash> = hashes.iter().copied().collect();
                // A code that an earlier version sent a few minutes ago is stored without a key.
                hashes.push(env.ports.secrets.fingerprint(&bound(principal, address, code)));
                let judged = env.logins.answer(*own, address.purpose(), &hashes, now).await?;
                let kind = if judged == AnswerOutcome::Right {
                    address.event()
                } else {
                    SecurityEventKind::CodeRefused
                };
                env.security_audit.by(principal, kind, context.client.clone()).await;
                if judged != AnswerOutcome::Right {
                    return Err(CommandError::Refused(VerifyRefusal::InvalidCode));
                }
                match address {
                    Address::Email => profile.user.email_verified = true,
                    Address::Phone => profile.user.phone_verified = true,
                }
                Ok(profile)
            })
            .await
    }

    async fn profile(&self, principal: &Principal) -> Result<Profile, Failure> {
        self.env.people.profile(principal.user).await?.ok_or(Failure::UnknownPrincipal)
    }

    /// The hashes under which a code is stored.
    fn hashes(
        &self,
        principal: &Principal,
        address: Address,
        code: &Token,
        now: Timestamp,
    ) -> Result<Candidates<TokenHash>, Unavailable> {
        self.env.ports.secrets.keyed_hashes(LowEntropyValue::Code, &bound(principal, address, code).0, now)
    }
}

/// Binds a code to its user and purpose: the same six digits have another hash for another user or purpose.
fn bound(principal: &Principal, address: Address, code: &Token) -> Token {
    Token(format!("{}:{}:{}", address.purpose().name(), principal.user, code.0))
}

/// The time from now until then.
pub(super) fn between(now: Timestamp, then: Timestamp) -> Duration {
    Duration::microseconds(then.unix_micros().saturating_sub(now.unix_micros()))
}
