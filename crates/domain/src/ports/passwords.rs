//! Passwords, random secrets, and tokens that can be derived again.

use async_trait::async_trait;

use crate::account::session::{Candidates, TokenHash};
use crate::ids::SessionId;
use crate::ports::Unavailable;
use crate::text::Password;
use crate::timestamp::Timestamp;

/// A hashed password, in a self-describing form; it prints as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash(pub String);

impl std::fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("PasswordHash([hidden])")
    }
}

/// What checking a password came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verified {
    /// It is another password.
    Wrong,
    /// It is the hashed one.
    Right,
    /// It is the hashed one, and should be hashed again, as passwords are hashed today.
    Outdated,
}

/// Hashes passwords, away from the threads that answer requests.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait Passwords: Send + Sync {
    /// The hash of a password, under a salt of its own.
    ///
    /// # Errors
    /// [`Unavailable`] when no hashing can be done now.
    async fn hash(&self, password: &Password) -> Result<PasswordHash, Unavailable>;

    /// Whether the password is the hashed one. Without a hash it takes as long and the answer is no, so that time
    /// does not tell whether an account exists.
    ///
    /// # Errors
    /// [`Unavailable`] when no hashing can be done now.
    async fn verify(&self, password: &Password, hash: Option<PasswordHash>) -> Result<Verified, Unavailable>;

    /// Whether the password is known from breaches, and must not be chosen.
    fn is_breached(&self, password: &Password) -> bool;
}

/// A refresh token or a code in clear, shown once to its owner; it prints as nothing.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(pub String);

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token([hidden])")
    }
}

/// The kinds of values that are stored as keyed hashes, since the input of an unkeyed hash could be found by trial.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Guessable {
    /// A code of six digits, with whom and what it is for.
    Code,
    /// A phone number.
    PhoneNumber,
    /// A network.
    Network,
}

/// Makes secrets that nobody can guess.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
pub trait Secrets: Send + Sync {
    /// A new refresh token of at least 256 random bits.
    fn token(&self) -> Token;
    /// A new code of six digits.
    fn code(&self) -> Token;
    /// The refresh token that follows a presented one, derived from that and a key of this service, so that it can be issued
    /// again without being stored.
    ///
    /// # Errors
    /// [`Unavailable`] when no key is in force.
    fn successors(&self, presented: &Token, now: Timestamp) -> Result<Candidates<Token>, Unavailable>;

    /// The first refresh token of the session that begins with a registration, derived from the session, the hash of the
    /// password with its random salt, and a key of this service, so that it can be issued again without being stored.
    ///
    /// # Errors
    /// [`Unavailable`] when no key is in force.
    fn first_tokens(
        &self,
        session: SessionId,
        password: &PasswordHash,
        now: Timestamp,
    ) -> Result<Candidates<Token>, Unavailable>;

    /// The keyed hashes of a value that can be guessed: under the key that signs now, and under every other key of
    /// the file, in force or not, since a rotation must neither invalidate a sent code nor reset a count.
    ///
    /// # Errors
    /// [`Unavailable`] when no key is in force.
    fn keyed_hashes(
        &self,
        what: Guessable,
        text: &str,
        now: Timestamp,
    ) -> Result<Candidates<TokenHash>, Unavailable>;

    /// The hash under which a token that nobody can guess is stored.
    fn fingerprint(&self, token: &Token) -> TokenHash;
}
