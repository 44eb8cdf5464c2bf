//! Personal data: all of it out, and erased.

use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt as _};
use time::Duration;

use crate::access::{Action, Caller, Denied, Whose};
use crate::ledger::Entry;
use crate::music_request::{MusicRequest, RequestFilter};
use crate::network::KnownNetwork;
use crate::page::{PageRequest, Rows};
use crate::people::ErasureRefusal;
use crate::ports::{
    Block, Blocks, Credentials, Erased, Logins, MusicRequests, Passwords, People, Profile, Sessions, Topups,
    Unavailable, Verified, Wallets, Withdrawals,
};
use crate::security_log::{EventFilter, EventKind, SecurityEvent};
use crate::service::desk::Obstacle;
use crate::service::expiry::Expiry;
use crate::service::journal::Journal;
use crate::service::profiles::FindError;
use crate::session::{Session, Visitor};
use crate::text::{Line, Password};
use crate::topup::Topup;
use crate::withdrawal::{Withdrawal, WithdrawalFilter};

/// What is kept about a person beside their profile, a list each.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// Where they are logged in.
    Sessions,
    /// The networks from which they were logged in.
    Networks,
    /// The requests that they made.
    RequestsMade,
    /// The requests addressed to them.
    RequestsReceived,
    /// Their withdrawals.
    Withdrawals,
    /// Their top-ups.
    Topups,
    /// Their wallet's entries.
    Entries,
    /// Whom they take no requests from.
    Blocks,
    /// What the security log has about them.
    Events,
}

impl Part {
    /// Every part, in the order in which they are taken out.
    pub const ALL: [Self; 9] = [
        Self::Sessions,
        Self::Networks,
        Self::RequestsMade,
        Self::RequestsReceived,
        Self::Withdrawals,
        Self::Topups,
        Self::Entries,
        Self::Blocks,
        Self::Events,
    ];
}

/// One thing that is kept about a person.
#[derive(Clone, PartialEq, Debug)]
pub enum Kept {
    /// A session.
    Session(Session),
    /// A network, with its number.
    Network(i64, KnownNetwork),
    /// A request, made or received, as it is seen now.
    Request(MusicRequest),
    /// A withdrawal.
    Withdrawal(Withdrawal),
    /// A top-up.
    Topup(Topup),
    /// An entry of their wallet.
    Entry(Entry),
    /// A block.
    Block(Block),
    /// An event of the security log, with its number.
    Event(i64, SecurityEvent),
}

impl Kept {
    /// By what its list is ordered, newest first; no two of a list have the same.
    fn place(&self) -> (i64, i64) {
        match self {
            Self::Session(session) => (session.began_at.unix_micros(), session.id.get()),
            Self::Network(number, _) => (*number, 0),
            Self::Request(request) => (request.created_at.unix_micros(), request.id.get()),
            Self::Withdrawal(withdrawal) => (withdrawal.created_at.unix_micros(), withdrawal.id.get()),
            Self::Topup(topup) => (topup.created_at.unix_micros(), topup.id.get()),
            Self::Entry(entry) => (entry.seq, 0),
            Self::Block(block) => (block.at.unix_micros(), block.guest.get()),
            Self::Event(number, _) => (*number, 0),
        }
    }
}

/// Why a person is not erased.
#[derive(Debug)]
pub enum EraseError {
    /// It is not their password.
    WrongPassword,
    /// They have money, available, held or owed.
    MoneyLeft,
    /// A top-up of theirs is pending, and its money may still come.
    TopupPending,
    /// They are the last active operator.
    LastOperator,
    /// See [`Obstacle`].
    Obstacle(Obstacle),
}

impl<E: Into<Obstacle>> From<E> for EraseError {
    fn from(error: E) -> Self {
        Self::Obstacle(error.into())
    }
}

/// The use cases of personal data.
#[derive(Clone)]
pub struct PersonalData {
    pub(super) people: Arc<dyn People>,
    pub(super) sessions: Arc<dyn Sessions>,
    pub(super) requests: Arc<dyn MusicRequests>,
    pub(super) withdrawals: Arc<dyn Withdrawals>,
    pub(super) topups: Arc<dyn Topups>,
    pub(super) wallets: Arc<dyn Wallets>,
    pub(super) blocks: Arc<dyn Blocks>,
    pub(super) journal: Journal,
    pub(super) logins: Arc<dyn Logins>,
    pub(super) passwords: Arc<dyn Passwords>,
    pub(super) expiry: Expiry,
    /// How long the money of a pending top-up may still come.
    pub(super) topups_pending_for: Duration,
}

impl PersonalData {
    /// Begins to take out what is kept about the caller: their profile; [`PersonalData::part`] has the rest.
    ///
    /// # Errors
    /// [`FindError::NotFound`] when the caller does not exist.
    pub async fn export(&self, caller: &Caller, visitor: Visitor) -> Result<Profile, FindError> {
        caller.may(Action::UsePersonalData, Whose::Own)?;
        let profile = self.people.profile(caller.user).await?.ok_or(FindError::NotFound)?;
        self.journal.by(caller, EventKind::DataExported, visitor).await;
        Ok(profile)
    }

    /// One whole list of what is kept about the caller, newest first, page by page: no more than a page is in memory.
    /// What is added meanwhile may be missing, and nothing is there twice.
    ///
    /// # Errors
    /// [`Denied`]; the stream ends with [`Unavailable`] where a page cannot be read.
    pub fn part(
        &self,
        caller: &Caller,
        part: Part,
    ) -> Result<impl Stream<Item = Result<Vec<Kept>, Unavailable>> + use<>, Denied> {
        caller.may(Action::UsePersonalData, Whose::Own)?;
        let (this, caller) = (self.clone(), *caller);
        // The next page's number, and the place of the last row before it.
        let start = Some((1_u64, None));
        Ok(stream::unfold(start, move |next| {
            let this = this.clone();
            async move {
                let (number, last) = next?;
                let page = PageRequest::new(number, PageRequest::MAX_SIZE);
                let Rows { mut rows, .. } = match this.page(&caller, part, page).await {
                    Ok(rows) => rows,
                    Err(unavailable) => return Some((Err(unavailable), None)),
                };
                let full = u32::try_from(rows.len()).is_ok_and(|found| found == page.size());
                // What was added since the last page pushed its end into this one.
                rows.retain(|kept| last.is_none_or(|last| kept.place() < last));
                let last = rows.last().map(Kept::place).or(last);
                Some((Ok(rows), full.then(|| (number.saturating_add(1), last))))
            }
        })
        .fuse())
    }

    /// Erases the caller, who proves once more who they are; what the ledger needs stays and names nobody. A wrong
    /// password takes as long as a right one. The caller's own overdue fees are given back first.
    ///
    /// # Errors
    /// [`EraseError`].
    pub async fn erase(
        &self,
        caller: &Caller,
        password: &Password,
        visitor: Visitor,
    ) -> Result<(), EraseError> {
        caller.may(Action::UsePersonalData, Whose::Own).map_err(Obstacle::from)?;
        let known = self.logins.credentials_of(caller.user).await?;
        let hash = known.map(|Credentials { password, .. }| password);
        if self.passwords.verify(password, hash).await? == Verified::Wrong {
            let detail = Some(Line::from_stored("erasure".to_owned()));
            let event = SecurityEvent::by(caller, EventKind::LoginFailed, visitor, self.expiry.desk.now());
            self.journal.add(SecurityEvent { detail, ..event }).await;
            return Err(EraseError::WrongPassword);
        }
        self.expiry.settle_own(caller.user).await?;
        let now = self.expiry.desk.now();
        match self.people.erase(caller.user, now.minus(self.topups_pending_for), now).await? {
            Erased::Done => {}
            Erased::Refused(ErasureRefusal::MoneyLeft) => return Err(EraseError::MoneyLeft),
            Erased::Refused(ErasureRefusal::TopupPending) => return Err(EraseError::TopupPending),
            Erased::Refused(ErasureRefusal::LastOperator) => return Err(EraseError::LastOperator),
            Erased::Nobody => return Err(Obstacle::UnknownCaller.into()),
        }
        self.journal.by(caller, EventKind::DataErased, visitor).await;
        Ok(())
    }

    async fn page(&self, caller: &Caller, part: Part, page: PageRequest) -> Result<Rows<Kept>, Unavailable> {
        let (user, now) = (caller.user, self.expiry.desk.now());
        let requests = |requester, dj| RequestFilter { requester, dj, status: None, now };
        let seen = |request: MusicRequest| Kept::Request(request.seen_at(now));
        Ok(match part {
            Part::Sessions => all(self.sessions.sessions(user, now, page).await?, Kept::Session),
            Part::Networks => {
                all(self.sessions.networks(user, page).await?, |(number, known)| Kept::Network(number, known))
            }
            Part::RequestsMade => all(self.requests.requests(&requests(Some(user), None), page).await?, seen),
            Part::RequestsReceived => {
                all(self.requests.requests(&requests(None, Some(user)), page).await?, seen)
            }
            Part::Withdrawals => {
                all(self.withdrawals.withdrawals(&WithdrawalFilter::of(user), page).await?, Kept::Withdrawal)
            }
            Part::Topups => all(self.topups.topups(user, page).await?, Kept::Topup),
            Part::Entries => all(self.wallets.entries(user, page).await?, Kept::Entry),
            Part::Blocks => all(self.blocks.blocks(user, page).await?, Kept::Block),
            Part::Events => {
                let filter = EventFilter { user: Some(user), kind: None };
                all(self.journal.log.events(filter, page).await?, |(number, event)| {
                    Kept::Event(number, event.shown_to(user))
                })
            }
        })
    }
}

fn all<T>(rows: Rows<T>, kept: impl Fn(T) -> Kept) -> Rows<Kept> {
    Rows { rows: rows.rows.into_iter().map(kept).collect(), total: rows.total }
}
