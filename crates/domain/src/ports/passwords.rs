//! Passwords, random secrets, and derived tokens.

use async_trait::async_trait;
use thiserror::Error;

use crate::gig::DjCode;
use crate::ids::{SessionId, UserId};
use crate::network::ClientNetwork;
use crate::ports::Unavailable;
use crate::text::Password;
use crate::timestamp::Timestamp;
pub use crate::user::PasswordHash;
use crate::user::guest_account::GuestKey;
use crate::user::session::{Candidates, SecretKind, TokenHash};

/// The outcome of verifying a password.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PasswordCheck {
    /// The password does not match.
    Wrong,
    /// The password matches.
    Right,
    /// The password matches, but should be hashed again with the current parameters.
    Outdated,
}

/// Why a password is not hashed.
#[derive(Debug, Error)]
pub enum HashingError {
    /// This many passwords from the network are waiting already, and no more may wait.
    #[error("{0} passwords from the network are waiting to be hashed")]
    TooManyWaiting(u32),
    /// No hash can be computed now.
    #[error(transparent)]
    Unavailable(Unavailable),
}

impl From<Unavailable> for HashingError {
    fn from(unavailable: Unavailable) -> Self {
        Self::Unavailable(unavailable)
    }
}

/// Hashes passwords, outside the threads that serve requests. Waiting hashes are served in turn by the network
/// of the client, so that the passwords of one network do not delay those of another.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Passwords: Send + Sync {
    /// Hashes a password from this network with a new salt.
    ///
    /// # Errors
    /// [`HashingError`].
    async fn hash(
        &self,
        password: &Password,
        network: Option<ClientNetwork>,
    ) -> Result<PasswordHash, HashingError>;

    /// Hashes the password that was verified against `before` again, with the current parameters. The salt stays, because
    /// the password stays. Therefore the [mark](PasswordHash::mark) stays, too.
    ///
    /// # Errors
    /// [`HashingError`].
    async fn rehash(
        &self,
        password: &Password,
        before: &PasswordHash,
        network: Option<ClientNetwork>,
    ) -> Result<PasswordHash, HashingError>;

    /// Verifies a password from this network. Without a hash it takes the same time and returns [`PasswordCheck::Wrong`], so that
    /// timing does not reveal whether a user exists.
    ///
    /// # Errors
    /// [`HashingError`].
    async fn verify(
        &self,
        password: &Password,
        hash: Option<PasswordHash>,
        network: Option<ClientNetwork>,
    ) -> Result<PasswordCheck, HashingError>;

    /// Whether the password is known from breaches and must not be chosen.
    fn is_breached(&self, password: &Password) -> bool;
}

/// A refresh token or a code in clear text, shown once to its owner; its `Debug` output is redacted.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(pub String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token([hidden])")
    }
}

/// The kinds of values that may have low entropy, stored as keyed hashes because the input of an unkeyed hash could be
/// found by trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LowEntropyValue {
    /// A code of six digits, bound to its user and purpose.
    Code,
    PhoneNumber,
    Network,
    /// The body of a request that creates a webhook endpoint.
    EndpointBody,
}

/// Generates secrets that cannot be guessed.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait Secrets: Send + Sync {
    /// A new refresh token of at least 256 random bits.
    fn token(&self) -> Token;
    /// A new code of six digits.
    fn code(&self) -> Token;
    /// A random code of a DJ, which may be taken.
    fn dj_code(&self) -> DjCode;
    /// The successor of a presented refresh token, derived from that token and a key of this service, so that
    /// it can be issued again without being stored.
    ///
    /// # Errors
    /// [`Unavailable`] when no key is in force.
    fn successors(&self, presented: &Token, now: Timestamp) -> Result<Candidates<Token>, Unavailable>;

    /// The first secret of this kind of the session that begins with a registration, derived from the session, the
    /// password hash with its random salt, and a key of this service, so that it can be issued again without
    /// being stored.
    ///
    /// # Errors
    /// [`Unavailable`] when no key is in force.
    fn first_secrets(
        &self,
        kind: SecretKind,
        session: SessionId,
        password: &PasswordHash,
        now: Timestamp,
    ) -> Result<Candidates<Token>, Unavailable>;

    /// The first secret of this kind of the session that begins with the creation of a guest account, derived from the key
    /// of the creation and a key of this service, so that it can be issued again without being stored.
    ///
    /// # Errors
    /// [`Unavailable`] when no key is in force.
    fn guest_secrets(
        &self,
        kind: SecretKind,
        key: &GuestKey,
        now: Timestamp,
    ) -> Result<Candidates<Token>, Unavailable>;

    /// The token that restores the previous e-mail address of a user after a change at `changed_at`, derived from both
    /// and a key of this service, so that it can be sent again without being stored. As with [`Secrets::keyed_hashes`],
    /// every key of the file has a candidate.
    ///
    /// # Errors
    /// [`Unavailable`] when no key is in force.
    fn restore_tokens(
        &self,
        user: UserId,
        changed_at: Timestamp,
        now: Timestamp,
    ) -> Result<Candidates<Token>, Unavailable>;

    /// The keyed hashes of a low-entropy value: under the signing key and under every other key of the file,
    /// in force or not, since a key rotation must neither invalidate a sent code nor reset a count.
    ///
    /// # Errors
    /// [`Unavailable`] when no key is in force.
    fn keyed_hashes(
        &self,
        what: LowEntropyValue,
        text: &str,
        now: Timestamp,
    ) -> Result<Candidates<TokenHash>, Unavailable>;

    /// The hash under which a high-entropy token is stored.
    fn fingerprint(&self, token: &Token) -> TokenHash;
}
