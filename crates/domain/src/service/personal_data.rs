//! Personal data: all of it out, and erased.

use std::sync::Arc;

use futures_util::stream::{self, Stream, StreamExt as _};
use time::Duration;

use crate::access::{Action, Caller, Denied, Whose};
use crate::people::ErasureRefusal;
use crate::personal_data::{Part, Record};
use crate::ports::{
    Credentials, Erased, Logins, Passwords, People, PersonalRecords, Profile, Unavailable, Verified,
};
use crate::security_log::{EventKind, SecurityEvent};
use crate::service::desk::Obstacle;
use crate::service::expiry::Expiry;
use crate::service::journal::Journal;
use crate::service::profiles::FindError;
use crate::session::Visitor;
use crate::text::{Line, Password};

/// Records of one page of a list.
const PAGE: u32 = 200;

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
    pub(super) records: Arc<dyn PersonalRecords>,
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
    /// What is added meanwhile may be missing. What is there from beginning to end is there once, whatever goes away.
    ///
    /// # Errors
    /// [`Denied`]; the stream ends with [`Unavailable`] where a page cannot be read.
    pub fn part(
        &self,
        caller: &Caller,
        part: Part,
    ) -> Result<impl Stream<Item = Result<Vec<Record>, Unavailable>> + use<>, Denied> {
        caller.may(Action::UsePersonalData, Whose::Own)?;
        let (this, user) = (self.clone(), caller.user);
        // Where the next page begins.
        let start = Some(None);
        Ok(stream::unfold(start, move |next| {
            let this = this.clone();
            async move {
                let after = next?;
                let records = match this.records.records(user, part, after, PAGE).await {
                    Ok(records) => records,
                    Err(unavailable) => return Some((Err(unavailable), None)),
                };
                let full = u32::try_from(records.len()).is_ok_and(|found| found >= PAGE);
                let last = records.last().map(Record::place);
                let now = this.expiry.desk.now();
                let shown = records.into_iter().map(|record| record.shown_to(user, now)).collect();
                Some((Ok(shown), full.then_some(last)))
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
}
