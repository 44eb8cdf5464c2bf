//! People as they are kept.

use async_trait::async_trait;

use crate::account::session::{Session, TokenHash};
use crate::account::{ErasureRefusal, User};
use crate::ids::UserId;
use crate::ledger::Balance;
use crate::page::{PageRequest, Rows};
use crate::ports::{PasswordHash, Unavailable};
use crate::timestamp::Timestamp;

/// A person with what is in their wallet.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    /// The person.
    pub user: User,
    /// Their wallet.
    pub balance: Balance,
}

/// How a registration ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registered {
    /// The person is there, with an empty wallet.
    Done,
    /// Somebody has this e-mail address, in whatever letter case.
    EmailTaken,
}

/// The outcome of making the first operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstOperator {
    /// The operator is there, with an empty wallet.
    Done,
    /// The deployment's first operator was made before, even if that person is no operator any more.
    MadeBefore,
    /// Somebody has this e-mail address, in whatever letter case.
    EmailTaken,
}

/// How an erasure ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Erased {
    /// The person is erased.
    Done,
    /// They stay as they are.
    Refused(ErasureRefusal),
    /// There is no such person, or they were erased before.
    Nobody,
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
    /// Adds a person with an empty wallet and, if one is given, their first session with its token: all or
    /// nothing. A repeated call with a session changes nothing and succeeds, because that session already has
    /// this id and token.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn register<'a>(
        &self,
        user: &User,
        password: &PasswordHash,
        session: Option<(&'a Session, TokenHash)>,
    ) -> Result<Registered, Unavailable>;

    /// Whether the deployment's first operator was ever made.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn has_first_operator(&self) -> Result<bool, Unavailable>;

    /// Registers the deployment's first operator, once and for all, in one atomic step: of any number of attempts, on
    /// any servers, one succeeds.
    ///
    /// # Errors
    /// [`Unavailable`], also when somebody has the id.
    async fn register_first_operator(
        &self,
        user: &User,
        password: &PasswordHash,
    ) -> Result<FirstOperator, Unavailable>;

    /// A person with their wallet, as of one moment.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn profile(&self, id: UserId) -> Result<Option<Profile>, Unavailable>;

    /// A page of people, by `created_at`, then id, both descending; of one address, folded by
    /// [`crate::text::Email::folded`], or all. Nobody who was erased is among them.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn people<'a>(&self, email: Option<&'a str>, page: PageRequest) -> Result<Rows<User>, Unavailable>;

    /// Erases a person, as [`crate::account::erase`] decides on them, their wallet and their newest pending top-up under lock,
    /// all or nothing: the person becomes what it says, their password is gone, their sessions end, and so do their
    /// challenges. Where the person is an operator, every operator is locked, by id.
    ///
    /// After that, their pending top-ups become what [`crate::topup::abandon`] says; the blocks by and of them, from where
    /// they came in their sessions, the networks that are known of them, and their profile in receipts are removed. That is
    /// done before this returns as far as it takes a second at most: [`People::finish_erasures`] does the rest. No call of
    /// anybody waits for that, however much there is.
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn erase(
        &self,
        id: UserId,
        expected_since: Timestamp,
        now: Timestamp,
    ) -> Result<Erased, Unavailable>;

    /// Removes the remaining data of pending erasures, until nothing is left. It may be interrupted and called again
    /// at any time, on several servers at once.
    ///
    /// # Errors
    /// [`Unavailable`]; some of it may be removed then.
    async fn finish_erasures(&self) -> Result<(), Unavailable>;

    /// A page of DJs, by `created_at`, then id, both descending; nobody who was erased is among them.
    ///
    /// # Errors
    /// [`Unavailable`].
    async fn djs(&self, filter: DjFilter, page: PageRequest) -> Result<Rows<User>, Unavailable>;
}
