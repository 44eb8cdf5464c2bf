//! Users and their profiles.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;

use crate::ids::UserId;
use crate::ledger::Balance;
#[cfg(doc)]
use crate::operation::feature_level::FeatureLevel;
use crate::page::{PageRequest, Rows};
use crate::ports::{PasswordHash, Unavailable};
use crate::privacy::ErasureRefusal;
use crate::text::Line;
use crate::timestamp::Timestamp;
use crate::user::session::{Session, SessionSecret};
use crate::user::{StandingFacts, User};

/// A user with their balance.
#[derive(Clone, PartialEq, Debug)]
pub struct Profile {
    pub user: User,
    /// The balance of their wallet.
    pub balance: Balance,
}

impl Profile {
    /// Whether no login leads to the money once the session ends.
    #[must_use]
    pub fn loses_money_with_its_session(&self) -> bool {
        self.user.is_guest_account() && !self.balance.total().is_zero()
    }
}

/// The outcome of a registration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Registered {
    /// The user is registered, with an empty wallet.
    Done,
    /// Another user has this e-mail address, regardless of letter case.
    EmailTaken,
    /// Guest accounts require a higher feature level.
    NotYet,
}

/// The outcome of creating the first operator.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FirstOperator {
    /// The operator was created, with an empty wallet.
    Done,
    /// The deployment's first operator was created before, even if that user is no longer an operator.
    MadeBefore,
    /// Another user has this e-mail address, regardless of letter case.
    EmailTaken,
}

/// The outcome of an erasure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Erased {
    /// The user is erased.
    Done,
    /// The erasure was refused; nothing changed.
    Refused(ErasureRefusal),
    /// There is no such user, or they were erased before.
    Nobody,
}

/// The unused ones of some guest accounts.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct UnusedGuests {
    /// Those that were created and last used before a time, and that neither an operation, a block nor the security log
    /// names, by id, ascending.
    pub unused: Vec<UserId>,
    /// The last account that was looked at; `None` if there was none.
    pub last: Option<UserId>,
}

/// A filter for the list of DJs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DjFilter {
    /// Only DJs who are online, or only those who are offline.
    pub online: Option<bool>,
}

/// Stores users.
#[cfg_attr(any(test, feature = "mocks"), mockall::automock)]
#[async_trait]
pub trait People: Send + Sync {
    /// Adds a user with an empty wallet and, if given, their first session with its token or cookie, atomically. A guest account
    /// has [`PasswordHash::none`] and waits for [`FeatureLevel::GUEST_ACCOUNTS`]. A repeated call with a session changes nothing and succeeds, because that session already has this id
    /// and secret.
    async fn register<'a>(
        &self,
        user: &User,
        password: &PasswordHash,
        session: Option<(&'a Session, SessionSecret)>,
    ) -> Result<Registered, Unavailable>;

    /// Whether the deployment's first operator was ever created.
    async fn has_first_operator(&self) -> Result<bool, Unavailable>;

    /// Registers the deployment's first operator in one atomic step: of any number of attempts on any
    /// servers, exactly one ever succeeds.
    ///
    /// # Errors
    /// [`Unavailable`], also when the id is taken.
    async fn register_first_operator(
        &self,
        user: &User,
        password: &PasswordHash,
    ) -> Result<FirstOperator, Unavailable>;

    /// Records that there was an operator, so that none is registered as the first one anymore. It may be repeated.
    async fn record_first_operator(&self, at: Timestamp) -> Result<(), Unavailable>;

    /// A user with their balance, as of one snapshot.
    async fn profile(&self, id: UserId) -> Result<Option<Profile>, Unavailable>;

    /// At most `limit` operators who are neither suspended nor erased, with ids above this one, by id, ascending.
    async fn active_operators(&self, after: Option<UserId>, limit: u32) -> Result<Vec<User>, Unavailable>;

    /// A page of users, by `created_at`, then id, both descending; those with one address, folded by
    /// [`crate::text::Email::folded`], or all. Erased users are not listed.
    async fn people<'a>(&self, email: Option<&'a str>, page: PageRequest) -> Result<Rows<User>, Unavailable>;

    /// Erases a user atomically: locks the user, their wallet and their newest pending top-up, applies the
    /// decision of [`crate::privacy::erase`], deletes the password, and ends all sessions and challenges. If
    /// the user is an operator, all operators are locked in order of id. `confirmed` is the password hash with which the
    /// erasure was confirmed, [`PasswordHash::none`] for a guest account. The decision compares it with the hash that is
    /// stored under the lock of the user.
    ///
    /// Afterwards these are removed: blocks by and of the user, the client info of their sessions, their known
    /// networks, and their profile in receipts. This method spends at most a second on that;
    /// [`People::finish_erasures`] does the rest. No other operation waits for it, however much there is.
    ///
    /// The pending top-ups stay as they are: the caller fails them. Until then the erasure is pending.
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn erase(
        &self,
        id: UserId,
        confirmed: &PasswordHash,
        expected_since: Timestamp,
        now: Timestamp,
    ) -> Result<Erased, Unavailable>;

    /// Looks at the next `limit` guest accounts with ids above this one, by id, for unused ones.
    async fn unused_guests(
        &self,
        before: Timestamp,
        after: Option<UserId>,
        limit: u32,
    ) -> Result<UnusedGuests, Unavailable>;

    /// Deletes a guest account with its wallet, sessions and known networks, and returns whether it was deleted: not if
    /// it was used since this time, is in use, or is named by anything else, such as a block or the security log.
    ///
    /// # Errors
    /// [`Unavailable`]; nothing changed then.
    async fn delete_guest(&self, id: UserId, before: Timestamp) -> Result<bool, Unavailable>;

    /// At most `limit` users with ids above this one whose erasure is pending, by id, ascending: data of theirs
    /// may remain to be removed, or a top-up of theirs is pending.
    async fn pending_erasures(&self, after: Option<UserId>, limit: u32) -> Result<Vec<UserId>, Unavailable>;

    /// Removes the remaining data of all pending erasures, and ends each one whose user has no pending top-up. It
    /// may be interrupted and repeated at any time, on several servers at once.
    ///
    /// # Errors
    /// [`Unavailable`]; some of it may be removed then.
    async fn finish_erasures(&self) -> Result<(), Unavailable>;

    /// The names of these users. Unknown and erased users have none.
    async fn names(&self, users: &BTreeSet<UserId>) -> Result<BTreeMap<UserId, Line>, Unavailable>;

    /// The facts that decide whether requests of a user count as guests'. A user has paid if the wallet has an entry of one
    /// of [`crate::ledger::EntryKind::PAYMENTS`].
    async fn standing(&self, user: UserId) -> Result<Option<StandingFacts>, Unavailable>;

    /// A page of DJs, by `created_at`, then id, both descending. Erased users are not listed.
    async fn djs(&self, filter: DjFilter, page: PageRequest) -> Result<Rows<User>, Unavailable>;
}
