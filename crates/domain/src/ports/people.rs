//! People as they are kept.

use async_trait::async_trait;

use crate::ids::UserId;
use crate::ledger::Balance;
use crate::page::{PageRequest, Rows};
use crate::people::User;
use crate::ports::{PasswordHash, Unavailable};
use crate::session::RefreshToken;

/// A person with what is in their wallet.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// The person.
    pub user: User,
    /// Their wallet.
    pub balance: Balance,
}

/// What a login is checked against.
#[derive(Clone, PartialEq, Debug)]
pub struct Credentials {
    /// Whose.
    pub user: UserId,
    /// Their password's hash.
    pub password: PasswordHash,
}

/// How a registration ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registered {
    /// The person is there, with an empty wallet.
    Done,
    /// Somebody has this e-mail address, in whatever letter case.
    EmailTaken,
}

/// Which DJs a list shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DjFilter {
    /// Only those who take requests now, or who do not.
    pub online: Option<bool>,
}

/// Keeps people.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait People: Send + Sync {
    /// Adds a person with an empty wallet and, if one is given, the first refresh token of theirs: all or nothing.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn register<'a>(
        &self,
        user: &User,
        password: &PasswordHash,
        session: Option<&'a RefreshToken>,
    ) -> Result<Registered, Unavailable>;

    /// A person with their wallet, as of one moment.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn profile(&self, id: UserId) -> Result<Option<Profile>, Unavailable>;

    /// What a login with this address is checked against; `email` is folded by [`crate::text::Email::folded`].
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn credentials(&self, email: &str) -> Result<Option<Credentials>, Unavailable>;

    /// A page of DJs, by `created_at`, then id, both descending.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn djs(&self, filter: DjFilter, page: PageRequest) -> Result<Rows<User>, Unavailable>;
}
